//! What the emissions and the electricity cost, in words.

use super::bibliography::Publication;
use super::prose::{Paragraph, Span, text};
use super::{Chosen, Cost, Price};
use crate::grid::data::deflator;
use crate::grid::social_cost;
use crate::text::number::money;
use crate::units::{Energy, Money};

pub(super) fn cost_of_carbon(cost: &Cost) -> Paragraph {
    let (cost, low, median, high, chosen) = match cost {
        Cost::Known {
            cost,
            low,
            median,
            high,
            chosen,
        } => (cost, low, median, high, *chosen),
        Cost::Unknown(why) => {
            return vec![text(format!("No social cost of carbon is stated: {why}."))];
        }
    };
    let country = cost.country.name();
    let chosen = chosen_words(chosen);
    let mut words = vec![
        text(format!(
            "With the country-level social cost of carbon for {} ({country}){chosen}, this amounts to {} ",
            cost.country,
            dollars(*low, *median, *high),
        )),
        Span::Cite(Publication::Ricke2018),
        text(format!(". {}", dollar_year(*median))),
    ];
    if median.amount() < 0.0 {
        words.push(text(
            " The cost is negative because temperatures in this country today lie below the economic \
             optimum of the underlying model, so that it books some warming as a gain there; \
             the damage done elsewhere is not part of a country-level figure.",
        ));
    }
    words
}

/// The cost in one sentence, and another where it would surprise.
pub(super) fn cost_in_brief(cost: &Cost) -> Paragraph {
    let Cost::Known {
        cost,
        low,
        median,
        high,
        chosen,
    } = cost
    else {
        return cost_of_carbon(cost);
    };
    let mut words = vec![
        text(format!(
            "The country-level social cost of carbon ({}{}) makes this {} of {} ",
            cost.country.name(),
            chosen_words(*chosen),
            dollars(*low, *median, *high),
            social_cost::DOLLAR_YEAR,
        )),
        Span::Cite(Publication::Ricke2018),
        text("."),
    ];
    if median.amount() < 0.0 {
        words.push(text(
            " It is negative because the underlying model books some warming as a gain there; the damage \
             done elsewhere is not part of it.",
        ));
    }
    words
}

/// Why it is the cost of this country, after its name.
fn chosen_words(chosen: Chosen) -> String {
    match chosen {
        Chosen::Named => String::new(),
        Chosen::Clock => {
            ", where the clocks of the machines say that the runs took place".to_owned()
        }
        Chosen::Place { runs: 1, of: 1 } => ", where the run took place".to_owned(),
        Chosen::Place { runs, of } if runs == of => ", where the runs took place".to_owned(),
        Chosen::Place { runs: 1, of } => {
            format!(", where 1 of {of} runs is known to have taken place")
        }
        Chosen::Place { runs, of } => {
            format!(", where {runs} of {of} runs are known to have taken place")
        }
    }
}

/// The year of the dollars, and the amount in those of the newest year with a price index.
fn dollar_year(median: Money) -> String {
    let of = social_cost::DOLLAR_YEAR;
    let newest = deflator::newest_year().and_then(|to| Some((to, deflator::factor(of, to)?)));
    match newest.filter(|_| !is_less_than_a_cent(median.amount())) {
        Some((to, factor)) => format!(
            "These are US dollars of {of}; in those of {to} it is {} USD, by the {}.",
            money(median.amount() * factor),
            deflator::NAME
        ),
        None => format!("These are US dollars of {of}."),
    }
}

fn dollars(low: Money, median: Money, high: Money) -> String {
    let [low, median, high] = [low, median, high].map(Money::amount);
    if [low, median, high].into_iter().all(is_less_than_a_cent) {
        let sign = if median < 0.0 { "a gain of " } else { "" };
        return format!("{sign}less than 0.01 USD");
    }
    format!(
        "{} USD (66 % confidence interval {} to {} USD)",
        money(median),
        money(low),
        money(high),
    )
}

/// Not zero, but less than a cent.
fn is_less_than_a_cent(amount: f64) -> bool {
    amount != 0.0 && amount.abs() < 0.01
}

pub(super) fn bill(energy: Energy, price: &Price) -> Paragraph {
    let amount = (energy * price.per_kwh).amount();
    let amount = if is_less_than_a_cent(amount) {
        "less than 0.01".to_owned()
    } else {
        money(amount)
    };
    let currency = &price.currency;
    vec![text(format!(
        "At {} {currency} per kWh the electricity cost {amount} {currency}.",
        price.per_kwh,
    ))]
}

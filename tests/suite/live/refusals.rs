use std::time::Duration;

use impact::grid::intensity::live::ServiceClient;
use impact::grid::intensity::{Declined, InvalidAnswer};

use super::server::{Reply, Server, closed_port};
use super::service::{ALL, Service, now};

/// What a service says when every answer is this one.
fn when(service: &Service, reply: Reply) -> Declined {
    let server = Server::start(move |_| reply.clone());
    service.ask_at(&server.url).unwrap_err()
}

/// What a service says when its good answer has been changed a little.
fn with(name: &str, from: &'static str, to: &'static str) -> Declined {
    let service = Service::named(name);
    let server = Server::start(move |path| match (service.good)(path) {
        Reply::Body(status, body) => Reply::Body(status, body.replace(from, to)),
        other => other,
    });
    service.ask_at(&server.url).unwrap_err()
}

#[test]
fn a_closed_port_is_offline() {
    for service in ALL {
        let declined = service.ask_at(&closed_port()).unwrap_err();
        assert_eq!(declined, Declined::Offline, "{}", service.name);
    }
}

#[test]
fn silence_and_dripping_are_time_outs_and_not_waited_for() {
    for service in ALL {
        for reply in [Reply::Silence, Reply::Drip] {
            let server = Server::start(move |_| reply.clone());
            let timeout = Duration::from_millis(150);
            let declined = service
                .ask(service.client(&server.url).with_timeout(timeout))
                .unwrap_err();
            assert_eq!(declined, Declined::Timeout(timeout), "{}", service.name);
        }
    }
}

#[test]
fn a_rate_limit_is_told_apart_from_other_statuses() {
    for service in ALL {
        let limited = when(service, Reply::Body(429, String::new()));
        assert_eq!(limited, Declined::RateLimited, "{}", service.name);
        let broken = when(service, Reply::Body(503, "{}".into()));
        assert_eq!(broken, Declined::Status(503), "{}", service.name);
    }
}

#[test]
fn a_refused_token_is_said_to_be_refused() {
    for service in ALL.iter().filter(|service| !service.tokens.is_empty()) {
        let declined = when(service, Reply::Body(401, String::new()));
        assert_eq!(declined, Declined::Refused(401), "{}", service.name);
    }
}

#[test]
fn a_web_page_is_nonsense() {
    for service in ALL {
        for page in [
            "<!DOCTYPE html><p>Sign in",
            "\n <html><body>",
            "\u{feff}<HTML>",
        ] {
            let declined = when(service, Reply::Body(200, page.into()));
            assert_eq!(
                declined,
                Declined::InvalidAnswer(InvalidAnswer::WebPage),
                "{}",
                service.name
            );
        }
    }
}

#[test]
fn too_large_an_answer_is_nonsense() {
    for service in ALL {
        let declined = when(service, Reply::Bytes(vec![b' '; 8 * 1024 * 1024 + 1]));
        assert!(
            matches!(
                declined,
                Declined::InvalidAnswer(InvalidAnswer::TooLarge(_))
            ),
            "{}: {declined:?}",
            service.name
        );
    }
}

#[test]
fn an_answer_of_another_shape_is_nonsense() {
    for service in ALL {
        for body in [
            "",
            "{}",
            "[]",
            "null",
            "{\"data\":5}",
            "<a><b/></a>",
            "a,b\n1,2",
        ] {
            let declined = when(service, Reply::Body(200, body.into()));
            assert!(
                matches!(
                    declined,
                    Declined::InvalidAnswer(InvalidAnswer::Unreadable(_))
                ),
                "{} {body}: {declined:?}",
                service.name
            );
        }
    }
}

#[test]
fn a_cut_off_answer_is_no_answer() {
    for service in ALL {
        let server = Server::start(move |path| match (service.good)(path) {
            Reply::Body(status, body) if path != "/login" => {
                let half = body.len() * 2 / 3;
                Reply::Body(status, body[..half].to_owned() + "\u{0}")
            }
            other => other,
        });
        assert!(service.ask_at(&server.url).is_err(), "{}", service.name);
    }
}

#[test]
fn another_zone_is_nonsense() {
    for (name, from, to) in [
        ("denmark", "\"DK1\"", "\"DK2\""),
        ("electricitymaps", "\"FR\"", "\"DE\""),
        ("watttime", "CAISO_NORTH", "PJM_DC"),
        ("entsoe", "10YFR-RTE------C", "10YBE----------2"),
        ("eia", "ERCO", "CISO"),
    ] {
        let declined = with(name, from, to);
        assert!(
            matches!(
                declined,
                Declined::InvalidAnswer(InvalidAnswer::OtherZone(_))
            ),
            "{name}: {declined:?}"
        );
    }
}

#[test]
fn a_negative_or_absurd_intensity_is_nonsense() {
    for (name, from, to) in [
        ("uk", "142", "-1"),
        ("uk", "142", "3001"),
        ("denmark", "61.0", "-61.0"),
        ("denmark", "61.0", "1e300"),
        ("caiso", "3100", "-310000"),
        ("caiso", "3100", "31000000"),
        ("electricitymaps", "33.5", "-33.5"),
        ("electricitymaps", "33.5", "33500"),
        ("watttime", "860.0", "-860.0"),
        ("watttime", "860.0", "86000.0"),
    ] {
        let declined = with(name, from, to);
        assert!(
            matches!(
                declined,
                Declined::InvalidAnswer(InvalidAnswer::OutOfRange(_))
            ),
            "{name} {to}: {declined:?}"
        );
    }
}

#[test]
fn an_answer_without_values_is_said_to_have_none() {
    let empty = include_str!("../../fixtures/answers/entsoe_empty.xml");
    let declined = when(Service::named("entsoe"), Reply::Body(200, empty.into()));
    assert_eq!(declined, Declined::NoValues);
    let declined = when(
        Service::named("uk"),
        Reply::Body(200, "{\"data\":[]}".into()),
    );
    assert_eq!(declined, Declined::NoValues);
}

#[test]
fn direct_values_are_not_taken_for_life_cycle_ones() {
    let declined = with("electricitymaps", "\"lifecycle\"", "\"direct\"");
    assert!(matches!(declined, Declined::InvalidAnswer(_)));
}

#[test]
fn without_a_token_nobody_is_asked() {
    for service in ALL.iter().filter(|service| !service.tokens.is_empty()) {
        let server = Server::start(service.good);
        let client = ServiceClient::new(service.settings(&server.url, false), None).with_clock(now);
        let declined = service.ask(client).unwrap_err();
        assert_eq!(declined, Declined::NoToken(service.tokens[0].0));
        assert!(server.seen().is_empty(), "{}", service.name);
    }
}

#[test]
fn a_zone_nobody_serves_is_not_asked_for() {
    for service in ALL
        .iter()
        .filter(|service| service.name != "electricitymaps")
    {
        let server = Server::start(service.good);
        let provider = service.provider(service.client(&server.url));
        let antarctica = "AQ".parse().unwrap();
        let declined = provider.latest(&antarctica, now()).unwrap_err();
        assert_eq!(
            declined,
            Declined::NotServed(antarctica),
            "{}",
            service.name
        );
        assert!(server.seen().is_empty(), "{}", service.name);
    }
}

#[test]
fn an_address_without_tls_is_refused() {
    for service in ALL {
        let declined = service.ask_at("http://192.0.2.1").unwrap_err();
        assert_eq!(
            declined,
            Declined::BadAddress {
                variable: service.url_variable
            }
        );
    }
}

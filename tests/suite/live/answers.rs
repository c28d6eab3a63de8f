use chrono::TimeDelta;
use impact::grid::intensity::live::{ServiceClient, geolocate};
use impact::grid::intensity::{Basis, Declined, Emissions, Period};

use super::server::{Reply, Server, closed_port};
use super::service::{ALL, Service, now};

fn values(name: &str) -> (Vec<(String, f64)>, Basis, TimeDelta) {
    let service = Service::named(name);
    let server = Server::start(service.good);
    let series = service.ask_at(&server.url).unwrap();
    let values = series
        .points()
        .iter()
        .map(|point| {
            let hundredths = (point.intensity.get() * 100.0).round() / 100.0;
            (point.at.format("%H:%M").to_string(), hundredths)
        })
        .collect();
    (values, series.basis, series.resolution)
}

fn list(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs
        .iter()
        .map(|(at, value)| ((*at).to_owned(), *value))
        .collect()
}

#[test]
fn the_uk_gives_actual_values_and_forecasts_where_there_are_none_yet() {
    let (values, basis, resolution) = values("uk");
    assert_eq!(values, list(&[("00:00", 142.0), ("00:30", 148.0)]));
    assert_eq!(basis, Basis::DIRECT_CONSUMPTION);
    assert_eq!(resolution, TimeDelta::minutes(30));
}

#[test]
fn a_region_of_the_uk_is_asked_for_by_its_number() {
    let service = Service::named("uk");
    let server = Server::start(service.good);
    let period = Period::new(
        "2026-03-01T00:00:00Z".parse().unwrap(),
        "2026-03-01T01:00:00Z".parse().unwrap(),
    )
    .unwrap();
    let provider = service.provider(service.client(&server.url));
    let london = provider
        .intensity(&"GB-13".parse().unwrap(), &period)
        .unwrap();
    assert_eq!(london.mean().get(), 97.5);
    assert!(london.source().contains("forecast for region 13"));
    let request = &server.seen()[0];
    let path = "GET /regional/intensity/2026-03-01T00:00Z/2026-03-01T01:00Z/regionid/13 ";
    assert!(request.starts_with(path), "{request}");
    assert!(
        provider
            .intensity(&"GB-NIR".parse().unwrap(), &period)
            .is_err()
    );
}

#[test]
fn denmark_is_sorted_and_empty_values_are_left_out() {
    let (values, basis, _) = values("denmark");
    assert_eq!(values, list(&[("00:00", 60.0), ("00:05", 61.0)]));
    assert_eq!(basis, Basis::DIRECT_CONSUMPTION);
}

#[test]
fn california_is_tonnes_over_megawatts_in_universal_time() {
    let (values, basis, _) = values("caiso");
    // 5360 t/h over 21 000 MW; rows still to come and the closing midnight are left out.
    assert_eq!(values, list(&[("08:00", 255.24), ("08:05", 255.24)]));
    assert_eq!(basis, Basis::DIRECT_CONSUMPTION);
}

#[test]
fn electricity_maps_is_life_cycle_by_the_hour() {
    let (values, basis, _) = values("electricitymaps");
    assert_eq!(values, list(&[("00:00", 31.0), ("01:00", 33.5)]));
    assert_eq!(basis, Basis::LIFE_CYCLE_CONSUMPTION);
}

#[test]
fn electricity_maps_latest_is_one_value() {
    let service = Service::named("electricitymaps");
    let server = Server::start(service.good);
    let provider = service.provider(service.client(&server.url));
    let series = provider.latest(&"FR".parse().unwrap(), now()).unwrap();
    assert_eq!(series.last().intensity.get(), 28.0);
    assert!(server.seen()[0].starts_with("GET /v4/carbon-intensity/latest?zone=FR&"));
}

#[test]
fn electricity_maps_is_asked_by_its_own_name_of_a_zone_and_says_what_stands_in() {
    let service = Service::named("electricitymaps");
    for (ours, theirs, source) in [
        (
            "AUS-NSW",
            "AU-NSW",
            "Electricity Maps, values partly estimated by it",
        ),
        (
            "US-VA",
            "US-MIDA-PJM",
            "Electricity Maps, values partly estimated by it; figure of US-MIDA-PJM, its largest balancing area",
        ),
    ] {
        let server = Server::start(|path| {
            let asked = path.split(['=', '&']).nth(1).unwrap();
            let body = include_str!("../../fixtures/answers/electricitymaps_latest.json");
            Reply::Body(200, body.replace("\"FR\"", &format!("\"{asked}\"")))
        });
        let provider = service.provider(service.client(&server.url));
        let series = provider.latest(&ours.parse().unwrap(), now()).unwrap();
        assert_eq!(series.source(), source);
        let path = format!("GET /v4/carbon-intensity/latest?zone={theirs}&");
        assert!(server.seen()[0].starts_with(&path), "{:?}", server.seen());
    }
}

#[test]
fn watttime_is_marginal_and_converted_from_pounds() {
    let (values, basis, _) = values("watttime");
    assert_eq!(values, list(&[("00:00", 394.63), ("00:05", 390.09)]));
    let emissions = Some(Emissions::Direct);
    assert_eq!(basis, Basis::Marginal { emissions });
}

#[test]
fn entsoe_is_generation_times_factors_without_pumping() {
    let (values, basis, resolution) = values("entsoe");
    // Three parts nuclear at 12 and one part gas at 490, then nuclear alone, whose value is repeated.
    assert_eq!(values.len(), 8);
    assert_eq!(values[3], ("00:45".into(), 131.5));
    assert_eq!(values[4], ("01:00".into(), 12.0));
    assert_eq!(basis, Basis::LIFE_CYCLE_PRODUCTION);
    assert_eq!(resolution, TimeDelta::minutes(15));
}

#[test]
fn eia_hours_are_named_by_their_end() {
    let (values, basis, _) = values("eia");
    // The fuels of the hour after it have not all arrived.
    assert_eq!(values, list(&[("00:00", 250.5)]));
    assert_eq!(basis, Basis::LIFE_CYCLE_PRODUCTION);
}

#[test]
fn a_machine_s_place_is_what_the_geolocation_service_says() {
    let server = Server::start(|_| {
        let body = r#"{"ip":"192.0.2.1","latitude":"37.4275","longitude":"-122.1697","city":"Stanford","country":"United States"}"#;
        Reply::Body(200, body.into())
    });
    let client = |url: &str| {
        let setting = ("IMPACT_GEOLOCATION_URL".to_owned(), url.to_owned());
        ServiceClient::new([setting].into_iter().collect(), None)
    };
    let place = geolocate(&client(&server.url)).unwrap();
    assert_eq!((place.lat, place.lon), (37.4275, -122.1697));
    assert_eq!(place.name, "Stanford, United States");
    let nowhere =
        Server::start(|_| Reply::Body(200, r#"{"latitude":"91","longitude":"0"}"#.into()));
    assert!(geolocate(&client(&nowhere.url)).is_err());
    assert_eq!(geolocate(&client(&closed_port())), Err(Declined::Offline));
}

#[test]
fn history_is_asked_for_once_and_then_comes_from_the_cache() {
    for service in ALL {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(service.good);
        let first = service
            .ask(service.with_cache(&server.url, folder.path()))
            .unwrap();
        let asked = server.seen().len();
        let second = service
            .ask(service.with_cache(&server.url, folder.path()))
            .unwrap();
        assert_eq!(first, second, "{}", service.name);
        assert_eq!(server.seen().len(), asked, "{}", service.name);
    }
}

#[test]
fn a_spoilt_cache_is_asked_past() {
    for service in ALL {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(service.good);
        let first = service
            .ask(service.with_cache(&server.url, folder.path()))
            .unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let body = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            bytes.truncate(body);
            bytes.extend(b"\xff\0{<>");
            std::fs::write(path, bytes).unwrap();
        }
        let again = service
            .ask(service.with_cache(&server.url, folder.path()))
            .unwrap();
        assert_eq!(first, again, "{}", service.name);
    }
}

#[test]
fn nonsense_is_not_cached() {
    for service in ALL {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(|path| match path {
            "/login" => Reply::Body(200, r#"{"token":"t"}"#.into()),
            _ => Reply::Body(200, "{}".into()),
        });
        let client = service.with_cache(&server.url, folder.path());
        assert!(service.ask(client).is_err(), "{}", service.name);
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            0,
            "{}",
            service.name
        );
    }
}

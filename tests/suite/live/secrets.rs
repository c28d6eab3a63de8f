use super::server::{Reply, Server};
use super::service::ALL;

#[test]
fn tokens_are_sent_but_never_shown() {
    for service in ALL.iter().filter(|service| !service.tokens.is_empty()) {
        for reply in [
            Reply::Body(401, "s3cret".into()),
            Reply::Body(500, "s3cret".into()),
            Reply::Body(200, "{\"data\":\"s3cret\",\"zone\":5}".into()),
        ] {
            let server = Server::start(move |_| reply.clone());
            let client = service.client(&server.url);
            let shown = format!("{client:?}");
            let declined = service.ask(client).unwrap_err();
            let shown = format!("{shown} {declined:?} {declined} {}", declined.reason());
            assert!(!shown.contains("s3cret"), "{}: {shown}", service.name);
            assert!(!shown.contains("http://"), "{}: {shown}", service.name);
        }
    }
}

#[test]
fn tokens_are_not_kept_in_the_cache() {
    for service in ALL {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(service.good);
        service
            .ask(service.with_cache(&server.url, folder.path()))
            .unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let kept = std::fs::read(file.unwrap().path()).unwrap();
            let kept = String::from_utf8_lossy(&kept);
            assert!(!kept.contains("s3cret"), "{}", service.name);
        }
    }
}

#[test]
fn a_token_reaches_the_service_it_is_for() {
    for (name, expected) in [
        ("electricitymaps", "auth-token: s3cret-em"),
        ("watttime", "authorization: Bearer s3cret-bearer"),
        ("entsoe", "securityToken=s3cret-entsoe"),
        ("eia", "api_key=s3cret-eia"),
    ] {
        let service = super::service::Service::named(name);
        let server = Server::start(service.good);
        service.ask_at(&server.url).unwrap();
        let request = server.seen().pop().unwrap();
        assert!(request.contains(expected), "{request}");
    }
}

#[test]
fn a_redirect_to_another_place_is_not_followed() {
    for service in ALL {
        let elsewhere = Server::start(service.good);
        let target = format!("{}/stolen", elsewhere.url);
        let server = Server::start(move |_| Reply::Redirect(target.clone()));
        assert!(service.ask_at(&server.url).is_err(), "{}", service.name);
        assert!(elsewhere.seen().is_empty(), "{}", service.name);
    }
}

#[test]
fn a_redirect_within_the_same_place_is_followed_a_few_times() {
    let service = super::service::Service::named("uk");
    let server = Server::start(|path| {
        if path == "/moved" {
            (super::service::Service::named("uk").good)(path)
        } else {
            Reply::Redirect("/moved".into())
        }
    });
    assert!(service.ask_at(&server.url).is_ok());
    let circle = Server::start(|_| Reply::Redirect("/again".into()));
    assert!(service.ask_at(&circle.url).is_err());
    assert!(circle.seen().len() <= 5);
}

#[test]
fn tls_is_not_given_up_for_a_server_without_it() {
    for service in ALL {
        let server = Server::start(service.good);
        let secure = server.url.replace("http://", "https://");
        assert!(service.ask_at(&secure).is_err(), "{}", service.name);
        let seen = server.seen().concat();
        assert!(!seen.contains("s3cret"), "{}", service.name);
    }
}

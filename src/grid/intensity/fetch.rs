//! HTTP requests: a GET over TLS with a limit of time and size.

use std::fmt;
use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::blocking::{Client, Response};
use reqwest::{StatusCode, Url, redirect};

use super::{Declined, InvalidAnswer};

/// The most that is read of any answer.
pub const LARGEST_BODY: u64 = 8 * 1024 * 1024;

/// A token or password; it has no text form, so it cannot be logged by mistake.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// How a request authenticates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    None,
    Header(&'static str, Secret),
    Bearer(Secret),
    Basic(Secret, Secret),
    Query(&'static str, Secret),
}

/// The address of a service: https, or http on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text.trim_end_matches('/')).ok()?;
        let allowed = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        (allowed && url.host_str().is_some() && url.query().is_none()).then_some(Self(url))
    }
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    })
}

/// One question to a service; its address never contains a secret.
#[derive(Debug, Clone)]
pub struct Request {
    url: Url,
}

impl Request {
    /// A path under the base; each segment is escaped.
    #[must_use]
    pub fn new<'a>(base: &BaseUrl, path: impl IntoIterator<Item = &'a str>) -> Self {
        let mut url = base.0.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        Self { url }
    }

    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// The address, which is also what the answer is known by in the cache.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }
}

/// The body of a successful answer, all of it within the time-out.
pub fn fetch(request: &Request, auth: &Auth, timeout: Duration) -> Result<Vec<u8>, Declined> {
    let mut url = request.url.clone();
    let client = client(is_loopback(&url)).ok_or(Declined::Offline)?;
    if let Auth::Query(name, secret) = auth {
        url.query_pairs_mut().append_pair(name, &secret.0);
    }
    // The time-out of a request ends with the last byte of the body; that of a client starts again with each read.
    let builder = client.get(url).timeout(timeout);
    let builder = match auth {
        Auth::None | Auth::Query(..) => builder,
        Auth::Header(name, secret) => builder.header(*name, &secret.0),
        Auth::Bearer(secret) => builder.bearer_auth(&secret.0),
        Auth::Basic(user, password) => builder.basic_auth(&user.0, Some(&password.0)),
    };
    let response = builder
        .send()
        .map_err(|error| unreachable(error.is_timeout(), timeout))?;
    match response.status() {
        status if status.is_success() => read(response, timeout),
        StatusCode::TOO_MANY_REQUESTS => Err(Declined::RateLimited),
        status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) if *auth != Auth::None => {
            Err(Declined::Refused(status.as_u16()))
        }
        status => Err(Declined::Status(status.as_u16())),
    }
}

/// The client for services on this machine, or for those of the network.
///
/// A client is never dropped: that would wait for the system to look a name up, without a limit.
fn client(is_local: bool) -> Option<&'static Client> {
    static LOCAL: OnceLock<Client> = OnceLock::new();
    static REMOTE: OnceLock<Client> = OnceLock::new();
    let kept = if is_local { &LOCAL } else { &REMOTE };
    if kept.get().is_none() {
        // Another part of the program may have installed one first, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("impact/", env!("CARGO_PKG_VERSION")))
            .pool_max_idle_per_host(0)
            .redirect(redirect::Policy::custom(same_place_only));
        let builder = if is_local {
            builder.no_proxy()
        } else {
            builder.https_only(true)
        };
        let _ = kept.set(builder.build().ok()?);
    }
    kept.get()
}

/// Tokens travel with a request, so a redirect is followed only to the very same scheme, host and port.
fn same_place_only(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let stays = attempt
        .previous()
        .last()
        .is_some_and(|before| before.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= 3 {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn read(response: Response, timeout: Duration) -> Result<Vec<u8>, Declined> {
    let mut body = Vec::new();
    response
        .take(LARGEST_BODY + 1)
        .read_to_end(&mut body)
        .map_err(|error| {
            let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
            unreachable(cause.is_some_and(reqwest::Error::is_timeout), timeout)
        })?;
    if body.len() as u64 > LARGEST_BODY {
        return Err(InvalidAnswer::TooLarge(LARGEST_BODY).into());
    }
    if is_web_page(&body) {
        return Err(InvalidAnswer::WebPage.into());
    }
    Ok(body)
}

/// Whether this is HTML, as captive portals and error pages send with status 200.
fn is_web_page(body: &[u8]) -> bool {
    let start: Vec<u8> = body
        .iter()
        .copied()
        .skip_while(|byte| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte))
        .take(14)
        .map(|byte| byte.to_ascii_lowercase())
        .collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// What went wrong, without the library's own text: it contains the address, which may contain a key.
fn unreachable(is_timeout: bool, timeout: Duration) -> Declined {
    if is_timeout {
        Declined::Timeout(timeout)
    } else {
        Declined::Offline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_or_this_machine_is_an_address() {
        for good in [
            "https://example.org",
            "https://example.org/v3/",
            "http://127.0.0.1:8080",
            "http://localhost:1",
            "http://[::1]:1",
        ] {
            assert!(BaseUrl::parse(good).is_some(), "{good}");
        }
        for bad in [
            "http://example.org",
            "http://127.0.0.1.example.org",
            "ftp://localhost",
            "file:///etc/passwd",
            "https://example.org?key=1",
            "example.org",
            "",
        ] {
            assert!(BaseUrl::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_secret_has_no_text_and_a_path_is_escaped() {
        let base = BaseUrl::parse("https://example.org").unwrap();
        let request = Request::new(&base, ["v2", "a b"]).query("zone", "GB");
        let auth = Auth::Query("api_key", Secret::new("hunter2"));
        assert_eq!(request.url(), "https://example.org/v2/a%20b?zone=GB");
        assert_eq!(format!("{auth:?}"), r#"Query("api_key", Secret)"#);
    }
}

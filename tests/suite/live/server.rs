//! A web server on this machine that replays answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Reply {
    Body(u16, String),
    Bytes(Vec<u8>),
    Redirect(String),
    /// Takes the request and says nothing, for longer than any client may wait.
    Silence,
    /// Sends a byte now and then; a client that waits for the end gets it.
    Drip,
}

const DROPS: usize = 3000;

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request by its path and query.
    pub(crate) fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &log, answer.as_ref()));
            }
        });
        Self { url, seen }
    }

    /// The head of every request so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// An address where nobody listens.
pub(crate) fn closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&str) -> Reply) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(head);
    let reply = answer(&path);
    let head = |status: u16, length: usize| {
        format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n")
    };
    // The client may hang up at any time, which is none of the server's business.
    let _ = match reply {
        Reply::Body(status, body) => {
            stream.write_all((head(status, body.len()) + &body).as_bytes())
        }
        Reply::Bytes(body) => stream
            .write_all(head(200, body.len()).as_bytes())
            .and_then(|()| stream.write_all(&body)),
        Reply::Redirect(to) => stream.write_all(
            format!(
                "HTTP/1.1 302 -\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            .as_bytes(),
        ),
        Reply::Silence => stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .and_then(|()| reader.read_to_end(&mut Vec::new()).map(drop)),
        Reply::Drip => stream
            .write_all(head(200, DROPS).as_bytes())
            .and_then(|()| {
                (0..DROPS).try_for_each(|_| {
                    thread::sleep(Duration::from_millis(20));
                    stream.write_all(b" ")
                })
            }),
    };
}

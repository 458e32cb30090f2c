//! Where a PostgreSQL URL leads, before anything is sent there.
//!
//! The driver's own reading is asked, which knows PGHOST and `?host=` as well: what is checked must
//! be what will be connected to.

use sqlx::postgres::PgConnectOptions;

use super::ObserveError;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerPlace {
    /// A socket in the file system of this machine.
    Socket,
    Host {
        host: String,
        port: u16,
    },
}

/// Reads a PostgreSQL URL.
///
/// # Errors
/// [`ObserveError::Connect`] when it is none.
pub fn server_place(url: &str) -> Result<ServerPlace, ObserveError> {
    let options: PgConnectOptions = url.parse().map_err(|error: sqlx::Error| {
        ObserveError::Connect { place: shown(url), source: error.into() }
    })?;
    let host = options.get_host();
    if options.get_socket().is_some() || host.starts_with('/') {
        return Ok(ServerPlace::Socket);
    }
    Ok(ServerPlace::Host { host: host.to_owned(), port: options.get_port() })
}

/// Host, port and database of a URL, without the credentials and settings.
pub(super) fn shown(url: &str) -> String {
    let Some((_, rest)) = url.split_once("://") else {
        return "what is no URL".to_owned();
    };
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    place.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_host_or_a_socket_however_it_is_written() {
        let host = |host: &str, port| ServerPlace::Host { host: host.to_owned(), port };
        let place = |url: &str| server_place(url).unwrap();
        assert_eq!(place("postgres://me:pw@db.example:5433/shop"), host("db.example", 5433));
        assert_eq!(place("postgres://127.0.0.1/shop?host=db.example"), host("db.example", 5432));
        assert_eq!(place("postgres:///shop?host=/run/postgresql"), ServerPlace::Socket);
        assert_eq!(place("postgres://%2Frun%2Fpostgresql/shop"), ServerPlace::Socket);
        assert!(server_place("s3cret").unwrap_err().to_string().contains("what is no URL"));
    }
}

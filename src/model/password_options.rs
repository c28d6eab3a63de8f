/// What follows an option of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Password,
    /// A user, this character, and a password.
    Account(char),
}

/// A short option that takes a password.
pub(super) struct PasswordOption {
    programs: &'static [&'static str],
    option: &'static str,
    pub(super) follows: Follows,
    /// Only after the word `login`: `docker run -p` is a port.
    of_login: bool,
}

const fn password(programs: &'static [&'static str], option: &'static str) -> PasswordOption {
    PasswordOption {
        programs,
        option,
        follows: Follows::Password,
        of_login: false,
    }
}

const fn account(
    programs: &'static [&'static str],
    option: &'static str,
    separator: char,
) -> PasswordOption {
    PasswordOption {
        programs,
        option,
        follows: Follows::Account(separator),
        of_login: false,
    }
}

/// From the manual pages of the programs.
static OPTIONS: &[PasswordOption] = &[
    password(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mysqlsh",
            "mycli",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mariadb-import",
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoimport",
            "mongoexport",
            "sshpass",
            "cqlsh",
            "rdesktop",
            "rabbitmqadmin",
            "twine",
            "useradd",
            "usermod",
            "7z",
            "7za",
            "7zr",
            "7zz",
            "rar",
            "unrar",
        ],
        "-p",
    ),
    password(
        &[
            "zip",
            "unzip",
            "sqlcmd",
            "bcp",
            "isql",
            "ipmitool",
            "mosquitto_pub",
            "mosquitto_sub",
        ],
        "-P",
    ),
    password(&["redis-cli"], "-a"),
    password(
        &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldapwhoami",
        ],
        "-w",
    ),
    PasswordOption {
        programs: &[
            "docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "crane", "az", "oc",
        ],
        option: "-p",
        follows: Follows::Password,
        of_login: true,
    },
    account(&["curl"], "-u", ':'),
    account(&["curl"], "-U", ':'),
    account(&["curl"], "--user", ':'),
    account(&["curl"], "--proxy-user", ':'),
    account(&["http", "https"], "-a", ':'),
    account(&["smbclient", "smbget", "rpcclient"], "-U", '%'),
    account(&["lftp"], "-u", ','),
];

/// Whether passwords are known to be given to this program.
pub(super) fn is_known(program: &str) -> bool {
    OPTIONS
        .iter()
        .any(|known| known.programs.contains(&program))
}

/// What a word says about a password of this program, and the part of the word after the option.
pub(super) fn find<'w>(
    program: &str,
    is_login: bool,
    word: &'w str,
) -> Option<(&'static PasswordOption, &'w str)> {
    OPTIONS
        .iter()
        .filter(|known| known.programs.contains(&program) && (is_login || !known.of_login))
        .find_map(|known| Some((known, known.attached(word)?)))
}

impl PasswordOption {
    /// The part of the word after the option; a long option needs `=` before a value.
    fn attached<'w>(&self, word: &'w str) -> Option<&'w str> {
        let rest = word.strip_prefix(self.option)?;
        if self.option.starts_with("--") && !rest.is_empty() {
            return rest.strip_prefix('=');
        }
        Some(rest)
    }
}

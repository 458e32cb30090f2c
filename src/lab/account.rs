//! The user that PostgreSQL and Redis run as, when we are root.
//!
//! PostgreSQL refuses to run as root. The user `postgres` is taken where there is one, because its
//! packages make it; otherwise `nobody`. /etc/passwd is read directly: users of a directory
//! service aren't wanted here.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::guard::Account;

use super::error::LabError;

/// `None` when we aren't root: then the servers run as we do.
pub(super) fn unprivileged() -> Result<Option<Account>, LabError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let account = find(&users, "postgres").or_else(|| find(&users, "nobody"));
    account.map(Some).ok_or(LabError::NoAccount)
}

/// passwd(5): name:password:uid:gid:...
fn find(users: &str, name: &str) -> Option<Account> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then_some(())?;
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Account { uid, gid }).filter(|_| uid != 0)
    })
}

/// Checks that the account may enter every folder above `path`. Its groups are cleared, so the
/// folder's own group is the only one that counts.
pub(super) fn check_reach(account: Account, path: &Path) -> Result<(), LabError> {
    for folder in path.ancestors().skip(1) {
        let Ok(metadata) = fs::metadata(folder) else {
            continue;
        };
        let bit = if metadata.uid() == account.uid {
            0o100
        } else if metadata.gid() == account.gid {
            0o010
        } else {
            0o001
        };
        if metadata.mode() & bit == 0 {
            return Err(LabError::Unreachable { path: folder.to_owned(), uid: account.uid });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_user_is_found_by_its_whole_name_and_is_never_root() {
        let users = "root:x:0:0::/root:/bin/sh\npostgres2:x:7:7::/:/bin/sh\n\
                     postgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash\nnobody:x:0:0::/:\n";
        assert_eq!(find(users, "postgres"), Some(Account { uid: 101, gid: 104 }));
        assert_eq!(find(users, "nobody"), None);
        assert_eq!(find(users, "mysql"), None);
    }

    #[test]
    fn a_closed_folder_above_is_named() {
        let outer = tempfile::tempdir().unwrap();
        let stranger = Account { uid: 4_000_001, gid: 4_000_001 };
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o711)).unwrap();
        check_reach(stranger, &outer.path().join("lab")).unwrap();
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let refused = check_reach(stranger, &outer.path().join("lab")).unwrap_err();
        assert!(refused.to_string().contains(&outer.path().display().to_string()));
    }
}

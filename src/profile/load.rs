//! Reads a profile's file, and says what to do when that can't be done.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::mistake::{Mistakes, render_without_place};
use super::model::Profile;
use super::suggest::closest;
use crate::codes::{self, Code};

/// A profile of a million bytes is a mistake of another kind.
pub const LONGEST_PROFILE: u64 = 1 << 20;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum LoadProfileError {
    #[error("there is no profile at {}", .path.display())]
    Missing {
        path: PathBuf,
        /// What may have been meant.
        similar: Vec<PathBuf>,
    },
    #[error("{} is a folder, not a profile", .path.display())]
    Folder { path: PathBuf, profiles: Vec<PathBuf> },
    #[error("{} is a pipe, socket or device, not a profile", .path.display())]
    NotAFile { path: PathBuf },
    #[error("{} is larger than 1 MiB", .path.display())]
    TooLarge { path: PathBuf },
    #[error("{} is not a text in UTF-8: line {line} has other bytes", .path.display())]
    NotText { path: PathBuf, line: usize },
    #[error("{} can't be read: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Mistakes(Mistakes),
}

/// Reads and checks a profile. `env` looks up variables of the environment.
pub fn load(
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Profile, LoadProfileError> {
    let text = read(path)?;
    super::parse(path, &text, env).map_err(LoadProfileError::Mistakes)
}

fn read(path: &Path) -> Result<String, LoadProfileError> {
    let unreadable = |source: std::io::Error| {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                LoadProfileError::Missing { similar: similar(&path), path }
            }
            ErrorKind::IsADirectory => {
                LoadProfileError::Folder { profiles: profiles_in(&path), path }
            }
            _ => LoadProfileError::Unreadable { path, source },
        }
    };
    // Opening a pipe would wait for its other end, and nobody could interrupt that.
    let kind = std::fs::metadata(path).map_err(unreadable)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(LoadProfileError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LONGEST_PROFILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST_PROFILE {
        return Err(LoadProfileError::TooLarge { path: path.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        LoadProfileError::NotText { path: path.to_owned(), line }
    })
}

/// Profiles with a name like this one's, in its folder and in `profiles/`.
fn similar(path: &Path) -> Vec<PathBuf> {
    let Some(wanted) = path.file_stem().and_then(|stem| stem.to_str()) else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    for folder in [folder, Path::new("profiles")] {
        let profiles = profiles_in(folder);
        let stems = profiles.iter().filter_map(|file| file.file_stem()?.to_str());
        if let Some(meant) = closest(wanted, stems) {
            let meant = folder.join(format!("{meant}.toml"));
            if !found.contains(&meant) {
                found.push(meant);
            }
        }
    }
    found
}

/// The TOML files of a folder, sorted; none if it can't be read.
fn profiles_in(folder: &Path) -> Vec<PathBuf> {
    let readable = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(readable).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| folder.join(entry.file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

impl LoadProfileError {
    /// The entry of the registry. Several mistakes have several: then it is the first one's.
    pub fn code(&self) -> &'static Code {
        match self {
            Self::Mistakes(mistakes) => {
                mistakes.list.first().map_or(&codes::UNREADABLE_PROFILE, |mistake| mistake.code)
            }
            _ => &codes::UNREADABLE_PROFILE,
        }
    }

    /// What to do, a sentence each.
    pub fn cures(&self) -> Vec<String> {
        let listed = |files: &[PathBuf]| {
            let files = files.iter().take(8).map(|file| format!("`{}`", file.display()));
            files.collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Missing { similar, .. } if !similar.is_empty() => {
                vec![format!("did you mean {}?", listed(similar))]
            }
            Self::Missing { path, .. } => {
                match path.parent().filter(|at| !at.as_os_str().is_empty()) {
                    Some(folder) if !folder.is_dir() => {
                        vec![format!("there is no folder `{}` either", folder.display())]
                    }
                    _ => vec![
                        "give the path of a profile, such as `profiles/checkout.toml`".to_owned(),
                    ],
                }
            }
            Self::Folder { profiles, .. } if profiles.is_empty() => {
                vec!["give the path of a profile; this folder has none".to_owned()]
            }
            Self::Folder { profiles, .. } => vec![format!("it has {}", listed(profiles))],
            Self::NotAFile { .. } => vec!["write the profile into a file first".to_owned()],
            Self::TooLarge { .. } => {
                vec!["a profile has a few dozen lines: is this another file?".to_owned()]
            }
            Self::NotText { .. } => vec!["save it as UTF-8, or take another file".to_owned()],
            Self::Unreadable { .. } => {
                vec!["check that it is a file and that you may read it".to_owned()]
            }
            Self::Mistakes(_) => Vec::new(),
        }
    }

    /// As it is shown on a terminal.
    pub fn render(&self, color: bool) -> String {
        match self {
            Self::Mistakes(mistakes) => mistakes.render(color),
            _ => render_without_place(self.code(), &self.to_string(), &self.cures(), color),
        }
    }
}

//! `target.launch`: the profile's words become instances of the user's command.

use std::path::{Path, PathBuf};

use super::{Instance, ask_ready};
use crate::drill::{DrillError, Stage};
use crate::guard::Guard;
use crate::history::InstanceId;
use crate::lab::{Addresses, Lab, LaunchPlace, LaunchSpec};
use crate::load::TargetInstance;
use crate::profile::Launched;

/// Launches all instances, one after the other.
pub(super) async fn all(
    stage: &Stage<'_>,
    guard: &Guard,
    lab: &mut Lab,
    launched: &Launched,
    servers: impl Fn(u16) -> Addresses,
) -> Result<Vec<Instance>, DrillError> {
    let failed = |source| DrillError::Launch { source: Box::new(source) };
    let env = launched.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
    let spec = LaunchSpec {
        command: launched.command.clone(),
        env: env.collect(),
        folder: folder(&stage.order.profile.path, launched)?,
        logs: stage.folder.logs(),
        ready_within: launched.ready_within,
    };
    let mut instances = Vec::new();
    for number in 0..launched.instances {
        let ready = |address| async move {
            let target = TargetInstance::plain(InstanceId(number), address);
            ask_ready(&target, launched.ready.as_deref()).await
        };
        let place = LaunchPlace { number, servers: servers(number) };
        let instance = lab.launch(guard, &spec, place, ready).await.map_err(failed)?;
        instances.push(Instance {
            name: instance.name,
            url: format!("http://{}", instance.address),
            target: TargetInstance::plain(InstanceId(number), instance.address),
            counter: None,
            process: Some(instance.process),
            seen_at: vec![instance.address],
        });
    }
    Ok(instances)
}

/// The folder in which the command runs, as an absolute path.
pub(super) fn folder(profile: &Path, launched: &Launched) -> Result<PathBuf, DrillError> {
    let named = beside(profile, launched.folder.as_deref());
    named.canonicalize().map_err(|source| DrillError::Refused {
        what: format!("the target's folder {} can't be entered: {source}", named.display()),
        cure: "Correct `folder` of `target.launch`; it is seen from the profile's own folder."
            .to_owned(),
    })
}

fn beside(profile: &Path, named: Option<&str>) -> PathBuf {
    let beside = profile.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or(Path::new("."));
    named.map_or_else(|| beside.to_owned(), |named| beside.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_seen_from_the_profile() {
        let profile = Path::new("drills/orders.toml");
        assert_eq!(beside(profile, None), Path::new("drills"));
        assert_eq!(beside(profile, Some("../app")), Path::new("drills/../app"));
        assert_eq!(beside(profile, Some("/srv/app")), Path::new("/srv/app"));
        assert_eq!(beside(Path::new("orders.toml"), None), Path::new("."));
    }
}

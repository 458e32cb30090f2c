//! `audit PROFILE`: a live database judged by its rows alone, without a run.
//!
//! No request is sent and no row is changed. What needs a history can't be judged, and says so; a
//! look at which nothing was judged proves nothing and is inconclusive.

use super::{DrillError, ground};
use crate::audit::{self, Judgement};
use crate::history::Clock;
use crate::observe::{Observer, Subject};
use crate::profile::Profile;

/// Reads and judges the database of a profile.
///
/// # Errors
/// When the profile names no database of the user's, or one that it may not touch, and when it
/// can't be read.
pub async fn audit_live(profile: &Profile) -> Result<Judgement, DrillError> {
    ground::postgres(profile).await?;
    let Some(postgres) = &profile.postgres else {
        return Err(DrillError::Refused {
            what: "the profile names no database that could be audited".to_owned(),
            cure: "Add `[postgres] url = \"${NAME}\"`, or name the folder of a run, such as \
                   results/latest."
                .to_owned(),
        });
    };
    let observed = |source| DrillError::Observe { source };
    let (url, subject) = (postgres.url.reveal(), Subject::default());
    let observer =
        Observer::connect(url, &profile.audit, subject, Clock::start()).await.map_err(observed)?;
    let survey = observer.survey(&profile.contract).await.map_err(observed)?;
    observer.close().await;
    Ok(audit::judge_rows(profile, &survey))
}

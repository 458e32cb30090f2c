//! Rule S16: the listener of an instance's port is the instance, or nobody is asked anything.

use std::time::Duration;

use dupeproof::profile::Target;

use crate::rig::{Rig, full, processes_with, profile, python, until_gone};

#[tokio::test]
async fn a_stranger_on_the_port_is_named_and_never_asked() {
    let mark = format!("mark-{:016x}", rand::random::<u64>());
    // It goes its own way without the environment that would tell whose it is, then ends by itself.
    let stranger = format!(
        "import http.server, sys, threading, os; '{mark}'\n\
         threading.Timer(15, lambda: os._exit(0)).start()\n\
         http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), \
         http.server.SimpleHTTPRequestHandler).serve_forever()"
    );
    let program = format!(
        "import subprocess, sys, time\n\
         subprocess.run(['sh', '-c', 'setsid \"$0\" -c \"$1\" \"$2\" >/dev/null 2>&1 &', \
         sys.executable, '''{stranger}''', sys.argv[1]], env={{}})\n\
         time.sleep(60)"
    );
    let mut launched = python(&program);
    launched.ready_within = Duration::from_secs(20);
    let error = Rig::new().drill(profile(Target::Launched(launched))).await.unwrap_err();
    let text = full(&error);
    assert!(text.contains("is held by process "), "{text}");
    let held = processes_with(&mark);
    assert!(held.iter().any(|pid| text.contains(&format!("process {pid} "))), "{text} {held:?}");
    assert!(text.contains("did not come of target-0's command"), "{text}");
    for pid in held {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    until_gone(&mark).await;
}

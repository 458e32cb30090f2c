//! One drill from plan to verdict: plan, start, run, settle, judge, write.

//! A conversation as bytes: what each side sends in turn, and what happens to it on the way.
//!
//! The first byte says how large the buffers are, the second one in which pieces is read. In what
//! follows the escape `0xFE` opens an operation, and every other byte is sent as it is. Operations
//! stand within the bytes that they are about, so that a mutation of one leaves the others in place.
//!
//! | operation | what it does |
//! |---|---|
//! | `C`, `S` | the client, the server speaks from now on |
//! | `\|` | a read ends here, and one write follows |
//! | `H` n | holds: at the last frame that began (0), or so many bytes further than what has left |
//! | `R` | releases |
//! | `P` n | writes take at most so many bytes from now on (0: all) |
//! | `F` n b | so many KiB of the byte b |
//! | another | stands for itself |

const ESCAPE: u8 = 0xfe;
/// As much as one side sends at most, so that an execution stays short.
const MOST: usize = 96 * 1024;
const CAPACITIES: [usize; 8] = [1, 2, 7, 64, 500, 4096, 8192, 64 * 1024];
const CUTS: [&[usize]; 8] = [
    &[usize::MAX],
    &[1],
    &[2],
    &[1, 5, 4096, 2, 13, 700],
    &[3, 1, 4, 1, 5, 9, 2, 6],
    &[31],
    &[1023, 1, 1025],
    &[4095, 2],
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Send(Vec<u8>),
    Turn(Side),
    Hold(u8),
    Release,
    Write(u8),
}

#[derive(Clone, Debug)]
pub struct Script {
    pub capacity: usize,
    pub cuts: &'static [usize],
    pub steps: Vec<Step>,
}

impl Script {
    /// Every sequence of bytes is one.
    pub fn of(bytes: &[u8]) -> Self {
        let mut bytes = bytes.iter().copied();
        let mut pick = || usize::from(bytes.next().unwrap_or_default());
        let capacity = CAPACITIES[pick() % CAPACITIES.len()];
        let cuts = CUTS[pick() % CUTS.len()];
        let mut steps = Vec::new();
        let (mut side, mut sent) = (Side::Client, [0; 2]);
        let mut run = Vec::new();
        while let Some(item) = next(&mut bytes) {
            match item {
                Item::Bytes(byte, count) => {
                    let sent = &mut sent[side as usize];
                    let count = count.min(MOST - *sent);
                    *sent += count;
                    run.extend(std::iter::repeat_n(byte, count));
                }
                Item::Step(step) => {
                    if !run.is_empty() {
                        steps.push(Step::Send(std::mem::take(&mut run)));
                    }
                    if let Step::Turn(other) = step {
                        side = other;
                    }
                    steps.push(step);
                }
            }
        }
        steps.push(Step::Send(run));
        // Long streams through tiny buffers take long and say nothing that short ones don't.
        let capacity = capacity.max(sent[0].max(sent[1]) / 64);
        Self { capacity, cuts, steps }
    }

    /// The same words said at once, turn by turn: nothing is cut, held or written in part.
    pub fn whole(&self) -> Self {
        let mut whole = Self { capacity: 1, cuts: CUTS[0], steps: Vec::new() };
        for step in &self.steps {
            match (step, whole.steps.last_mut()) {
                (Step::Send(more), Some(Step::Send(run))) => run.extend_from_slice(more),
                (Step::Turn(_) | Step::Send(_), _) => whole.steps.push(step.clone()),
                (Step::Hold(_) | Step::Release | Step::Write(_), _) => {}
            }
        }
        for step in &whole.steps {
            if let Step::Send(run) = step {
                whole.capacity = whole.capacity.max(run.len());
            }
        }
        whole
    }
}

enum Item {
    /// So many of this byte.
    Bytes(u8, usize),
    Step(Step),
}

fn next(bytes: &mut impl Iterator<Item = u8>) -> Option<Item> {
    let byte = bytes.next()?;
    if byte != ESCAPE {
        return Some(Item::Bytes(byte, 1));
    }
    Some(Item::Step(match bytes.next()? {
        b'C' => Step::Turn(Side::Client),
        b'S' => Step::Turn(Side::Server),
        b'|' => Step::Send(Vec::new()),
        b'H' => Step::Hold(bytes.next()?),
        b'R' => Step::Release,
        b'P' => Step::Write(bytes.next()?),
        b'F' => {
            let kib = usize::from(bytes.next()?);
            return Some(Item::Bytes(bytes.next()?, kib * 1024));
        }
        other => return Some(Item::Bytes(other, 1)),
    }))
}

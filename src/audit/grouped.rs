//! Places in lists, put together by what they belong to: two rows of numbers, however many groups.

/// The members of each group, in the order in which they were handed in.
#[derive(Debug, Default)]
pub(super) struct Grouped {
    /// Where each group begins; one more for the end.
    begins: Vec<u32>,
    members: Vec<u32>,
}

impl Grouped {
    /// Takes `(group, member)`; what names a group that isn't there is left out.
    pub fn new(groups: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let known = pairs.filter(|&(group, _)| (group as usize) < groups);
        let mut begins = vec![0_u32; groups + 1];
        for (group, _) in known.clone() {
            begins[group as usize + 1] += 1;
        }
        for group in 0..groups {
            begins[group + 1] += begins[group];
        }
        let mut next = begins.clone();
        let mut members = vec![0; begins[groups] as usize];
        for (group, member) in known {
            members[next[group as usize] as usize] = member;
            next[group as usize] += 1;
        }
        Self { begins, members }
    }

    pub fn of(&self, group: u32) -> &[u32] {
        let ends = (self.begins.get(group as usize), self.begins.get(group as usize + 1));
        let (Some(&begin), Some(&end)) = ends else { return &[] };
        &self.members[begin as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_strangers_are_left_out() {
        let grouped = Grouped::new(3, [(2, 7), (0, 5), (2, 6), (9, 1)].into_iter());
        assert_eq!([grouped.of(0), grouped.of(1), grouped.of(2)], [&[5][..], &[], &[7, 6]]);
        assert_eq!([grouped.of(3), grouped.of(u32::MAX)], [&[] as &[u32]; 2]);
    }
}

//! History and one finding become the shortest telling.

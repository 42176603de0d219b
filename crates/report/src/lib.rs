//! Tables, plots and one-file HTML from records and profiles.

//! The model of a solid state drive.

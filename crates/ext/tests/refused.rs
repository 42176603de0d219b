//! What is refused, and that a refused image is as it was.

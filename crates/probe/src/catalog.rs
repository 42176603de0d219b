//! Every parameter with what it says of itself.

use crate::{About, Parameter};

macro_rules! about {
    ($($parameter:ident $name:ident,)*) => {
        impl Parameter {
            /// What it says of itself.
            pub fn about(self) -> &'static About {
                match self {
                    $(Parameter::$parameter => &crate::parameters::$name::ABOUT,)*
                }
            }
        }
    };
}

crate::for_each_parameter!(about);

//! Connects every parameter with its description.

use crate::{About, Parameter};

macro_rules! about {
    ($($parameter:ident $name:ident,)*) => {
        impl Parameter {
            /// Returns the description of the parameter.
            pub fn about(self) -> &'static About {
                match self {
                    $(Parameter::$parameter => &crate::parameters::$name::ABOUT,)*
                }
            }
        }
    };
}

crate::for_each_parameter!(about);

//! Settings and what is different from them: two structures from one list of fields.

/// Writes `struct $settings` with every value, and `struct $overrides` with an optional one for each, as a study file
/// has it: `$overrides::onto` lays one over the other.
macro_rules! settings {
    (
        $(#[$($about:tt)*])* $settings:ident, $overrides:ident {
            $($(#[$($doc:tt)*])* $field:ident: $kind:ty,)*
        }
    ) => {
        fathom_base::keys! {
            $(#[$($about)*])*
            #[serde(rename_all = "kebab-case")]
            pub struct $settings {
                $($(#[$($doc)*])* pub $field: $kind,)*
            }
        }

        /// The settings that differ; what is left out stays as the program has it.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct $overrides {
            $(
                $(#[$($doc)*])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$kind>,
            )*
        }

        impl $overrides {
            /// What can be set.
            pub const KEYS: &'static [fathom_base::Key] = $settings::KEYS;

            /// The settings with what differs put in.
            pub fn onto(&self, mut settings: $settings) -> $settings {
                $(
                    if let Some(value) = &self.$field {
                        settings.$field = value.clone();
                    }
                )*
                settings
            }
        }
    };
}

pub(super) use settings;

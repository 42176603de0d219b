//! A macro that defines settings and their overrides from one list of fields.

/// Defines `struct $settings` with a value for every field, and `struct $overrides` with an optional value for each, as
/// in a study file. `$overrides::onto` applies overrides to settings.
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

        /// The settings to override. Omitted settings keep the program's values.
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
            /// The keys of the settings.
            pub const KEYS: &'static [fathom_base::Key] = $settings::KEYS;

            /// Returns the settings with the overrides applied.
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

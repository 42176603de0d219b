//! The macros that define lists of names and structures of settings.

/// Defines a list of names and an enum with one variant for each.
///
/// `enum E of KIND in LIST` has names only; optionally a value for each, returned by a function of the enum. `enum E by
/// "tag" of KIND in LIST` has settings for each variant, which a file contains next to `tag = "name"`. It also defines
/// the macro `each`, which evaluates an expression with the settings of whichever variant a value has. The structures of
/// the settings are defined with [`keys!`](crate::keys).
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* $vis:vis enum $enum:ident of $kind:ident in $list:ident, $fn_vis:vis fn $value_of:ident -> $type:ty {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $about:expr => $value:expr;)+
    }) => {
        $crate::names! {
            $(#[$meta])*
            $vis enum $enum of $kind in $list {
                $($(#[$doc])* $variant = $name, $about;)+
            }
        }

        impl $enum {
            /// Returns the value that the list has for it.
            $fn_vis fn $value_of(self) -> $type {
                match self { $(Self::$variant => $value,)+ }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $enum:ident of $kind:ident in $list:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $about:expr;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $enum {
            $(
                $(#[$doc])*
                #[doc = concat!("`", $name, "`.")]
                #[serde(rename = $name)]
                $variant,
            )+
        }

        impl $enum {
            /// All variants, in listing order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns its entry in the list.
            pub fn named(self) -> &'static $crate::registry::Named {
                &$list[self as usize]
            }
        }

        impl ::std::str::FromStr for $enum {
            type Err = $crate::registry::BadName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|one| one.name() == text);
                found.ok_or_else(|| $crate::registry::BadName::unknown(text, $list))
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        /// All entries, in order.
        pub const $list: &[$crate::registry::Named] =
            &[$($crate::registry::Named::new(&$kind, $name, $about)),+];
    };
    ($(#[$meta:meta])* $vis:vis enum $enum:ident by $tag:literal of $kind:ident in $list:ident, macro $each:ident {
        $($variant:ident($config:ty) = $name:literal, $about:expr;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(tag = $tag)]
        $vis enum $enum {
            $(
                #[doc = concat!("`", $name, "`.")]
                #[serde(rename = $name)]
                $variant($config),
            )+
        }

        impl $enum {
            /// Returns its name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }
        }

        impl ::std::str::FromStr for $enum {
            type Err = $crate::registry::BadName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::registry::parse($list, $tag, text)
            }
        }

        /// All entries, in order.
        pub const $list: &[$crate::registry::Named] = &[$({
            const ABOUT: $crate::registry::About = $about.keys(<$config>::KEYS);
            let settings = match ABOUT.settings {
                Some(settings) => settings,
                None => || $crate::registry::settings::<$enum>(ABOUT.example, $name),
            };
            $crate::registry::Named::new(&$kind, $name, ABOUT.settings(settings))
        }),+];

        #[allow(unused_macros, reason = "not every list asks the same of all settings")]
        macro_rules! $each {
            ($value:expr, $of:ident => $call:expr) => {
                match $value { $($enum::$variant($of) => $call,)+ }
            };
        }
    };
}

/// Defines a structure of settings together with `KEYS`, which contains each field with its doc comment. If every field
/// has a default after `=`, the structure gets that [`Default`], and a file may omit any field.
#[macro_export]
macro_rules! keys {
    ($(#[$($meta:tt)*])* $vis:vis struct $name:ident {
        $($(#[$($attr:tt)*])* $field_vis:vis $field:ident: $type:ty = $default:expr,)+
    }) => {
        $crate::keys! {
            #[serde(default, deny_unknown_fields)]
            $(#[$($meta)*])*
            $vis struct $name {
                $(
                    $(#[$($attr)*])*
                    #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                    $field_vis $field: $type,
                )+
            }
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
    ($(#[$($meta:tt)*])* $vis:vis struct $name:ident {
        $($(#[$($attr:tt)*])* $field_vis:vis $field:ident: $type:ty,)*
    }) => {
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        $(#[$($meta)*])*
        $vis struct $name {
            $($(#[$($attr)*])* $field_vis $field: $type,)*
        }

        impl $name {
            const DASHES: bool = false $(|| $crate::dashes!($($meta)*))*;

            /// The settings that can be given.
            pub const KEYS: &'static [$crate::registry::Key] = &[$($crate::registry::Key {
                field: stringify!($field),
                dashes: Self::DASHES,
                summary: concat!($($crate::comment!($($attr)*)),*),
            }),*];
        }
    };
}

/// Defines a structure with the default value of each field after `=`. Unlike [`keys!`](crate::keys), it derives nothing but
/// [`Default`] and lists no keys.
#[macro_export]
macro_rules! defaults {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$attr:meta])* $field_vis:vis $field:ident: $type:ty = $default:expr,)+
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $(
                $(#[$attr])*
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                $field_vis $field: $type,
            )+
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
}

/// Evaluates to true if an attribute makes files use `-` for `_`; `rename_all` must be the first part of the attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! dashes {
    (serde(rename_all = "kebab-case" $($rest:tt)*)) => {
        true
    };
    ($($other:tt)*) => {
        false
    };
}

/// Evaluates to the text of a doc attribute; to the empty string for any other attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! comment {
    (doc = $text:literal) => {
        $text
    };
    ($($other:tt)*) => {
        ""
    };
}

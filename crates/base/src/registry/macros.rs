//! The macros behind the lists.

/// A list of names and the enum that has one variant for each.
///
/// `enum E of KIND in LIST` has names alone, and can have a value for each, which a function of the enum gives. `enum E by
/// "tag" of KIND in LIST` has settings for each, which a file has beside `tag = "name"`; `each` is then a macro that does the same
/// with the settings of whichever it is. Their structures are made by [`keys!`](crate::keys).
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
            /// What the list has for it.
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
            /// All of them, in the order in which they are listed.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Its entry in the list.
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

        /// All of them, in order.
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
            /// What it is called.
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

        /// All of them, in order.
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

/// A structure of settings that says its keys: `KEYS` has each field with its comment. Where every field has a default behind
/// `=`, it has that [`Default`], and a file may leave any of them out.
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

            /// What can be set.
            pub const KEYS: &'static [$crate::registry::Key] = &[$($crate::registry::Key {
                field: stringify!($field),
                dashes: Self::DASHES,
                summary: concat!($($crate::comment!($($attr)*)),*),
            }),*];
        }
    };
}

/// Whether an attribute says that files have `-` for `_`: `rename_all` is the first that it says.
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

/// The text of an attribute that is a comment; of any other, nothing.
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

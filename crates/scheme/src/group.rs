use crate::error::SchemeError;
use crate::object::TypedObject;
use crate::scheme::Scheme;

/// Types that are registered together: a tuple of up to 16 of them. See [`Scheme::register_group`].
pub trait TypeGroup {
    /// Registers all of them, checking that each belongs to the group and version, where one is given.
    #[doc(hidden)]
    fn register_all(scheme: &mut Scheme, group_version: Option<(&str, &str)>) -> Result<(), SchemeError>;
}

macro_rules! type_group {
    ($($name:ident)+) => {
        impl<$($name: TypedObject),+> TypeGroup for ($($name,)+) {
            fn register_all(scheme: &mut Scheme, group_version: Option<(&str, &str)>) -> Result<(), SchemeError> {
                $(scheme.register_in::<$name>(group_version)?;)+
                Ok(())
            }
        }
    };
}

type_group!(A);
type_group!(A B);
type_group!(A B C);
type_group!(A B C D);
type_group!(A B C D E);
type_group!(A B C D E F);
type_group!(A B C D E F G);
type_group!(A B C D E F G H);
type_group!(A B C D E F G H I);
type_group!(A B C D E F G H I J);
type_group!(A B C D E F G H I J K);
type_group!(A B C D E F G H I J K L);
type_group!(A B C D E F G H I J K L M);
type_group!(A B C D E F G H I J K L M N);
type_group!(A B C D E F G H I J K L M N O);
type_group!(A B C D E F G H I J K L M N O P);

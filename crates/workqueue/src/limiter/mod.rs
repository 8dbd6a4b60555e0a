mod exponential;

pub use exponential::ItemBackoff;

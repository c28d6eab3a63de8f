//! The electricity grid: zones, places, cloud regions, carbon intensity and the social cost of carbon.

pub mod data;
pub mod intensity;
pub mod social_cost;
pub mod zone;

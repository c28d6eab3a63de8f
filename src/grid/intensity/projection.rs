use geo::Rect;

/// From longitude and latitude to pixels, downwards.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    kind: Kind,
    scale: f64,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Natural Earth: neither angles nor areas are exact, and both look right.
    NaturalEarth,
    /// Degrees, squeezed as they are at one latitude.
    Flat { squeeze: f64 },
}

/// The inhabited part of the Earth.
const NORTH: f64 = 83.7;
const SOUTH: f64 = -56.5;

impl Projection {
    /// The inhabited world, filling the width and centred in the height.
    pub(super) fn world(width: f64, height: f64) -> Self {
        let kind = Kind::NaturalEarth;
        let (west, east) = (kind.flatten(-180.0, 0.0).0, kind.flatten(180.0, 0.0).0);
        let (south, north) = (kind.flatten(0.0, SOUTH).1, kind.flatten(0.0, NORTH).1);
        Self::fitted(kind, (west, south, east, north), width, height)
    }

    /// A box and a quarter of it on each side, in a square.
    pub(super) fn around(bounds: Rect<f64>, size: f64) -> Self {
        let middle = bounds.center();
        let kind = Kind::Flat {
            squeeze: middle.y.to_radians().cos().max(0.1),
        };
        let (west, south) = kind.flatten(bounds.min().x, bounds.min().y);
        let (east, north) = kind.flatten(bounds.max().x, bounds.max().y);
        let margin = 0.25 * (east - west).max(north - south).max(0.2);
        let corners = (west - margin, south - margin, east + margin, north + margin);
        Self::fitted(kind, corners, size, size)
    }

    fn fitted(
        kind: Kind,
        (west, south, east, north): (f64, f64, f64, f64),
        width: f64,
        height: f64,
    ) -> Self {
        let scale = (width / (east - west)).min(height / (north - south));
        Self {
            kind,
            scale,
            left: (width - scale * (east - west)) / 2.0 - scale * west,
            top: (height - scale * (north - south)) / 2.0 + scale * north,
            width,
            height,
        }
    }

    pub(super) fn place(&self, lon: f64, lat: f64) -> (f64, f64) {
        let (x, y) = self.kind.flatten(lon, lat);
        (self.left + self.scale * x, self.top - self.scale * y)
    }

    /// Whether a pixel lies in the drawing.
    pub(super) fn shows(&self, x: f64, y: f64) -> bool {
        (0.0..=self.width).contains(&x) && (0.0..=self.height).contains(&y)
    }
}

impl Kind {
    fn flatten(self, lon: f64, lat: f64) -> (f64, f64) {
        match self {
            Self::Flat { squeeze } => (lon * squeeze, lat),
            Self::NaturalEarth => {
                // Šavrič, Jenny, Patterson, Petrovič, Hurni (2011), A polynomial equation for the Natural Earth projection.
                let (l, p2) = (lon.to_radians(), lat.to_radians().powi(2));
                let narrowing = 0.8707
                    + p2 * (-0.131_979
                        + p2 * (-0.013_791 + p2.powi(3) * (0.003_971 - 0.001_529 * p2)));
                let rising = 1.007_226
                    + p2 * (0.015_085
                        + p2.powi(2) * (-0.044_475 + p2 * (0.028_874 - 0.005_916 * p2)));
                (l * narrowing, lat.to_radians() * rising)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_fills_the_drawing_with_north_up() {
        let world = Projection::world(1000.0, 500.0);
        let (west, _) = world.place(-180.0, 0.0);
        let (east, _) = world.place(180.0, 0.0);
        assert!(
            west >= -0.5 && east <= 1000.5 && east - west > 900.0,
            "{west} {east}"
        );
        assert!(world.place(0.0, 60.0).1 < world.place(0.0, 0.0).1);
    }

    #[test]
    fn a_detail_shows_its_box() {
        let detail = Projection::around(Rect::new((5.0, 45.0), (10.0, 48.0)), 400.0);
        for (lon, lat) in [(5.0, 45.0), (10.0, 48.0)] {
            let (x, y) = detail.place(lon, lat);
            assert!(detail.shows(x, y), "{x} {y}");
        }
    }
}

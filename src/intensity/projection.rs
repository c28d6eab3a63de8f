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
    /// Equal Earth: areas are true, so large dirty countries look as large as they are.
    EqualEarth,
    /// Degrees, squeezed as they are at one latitude.
    Flat { squeeze: f64 },
}

/// The inhabited part of the Earth.
const NORTH: f64 = 83.7;
const SOUTH: f64 = -56.5;

impl Projection {
    /// The inhabited world, filling the width and centred in the height.
    pub(super) fn world(width: f64, height: f64) -> Self {
        let kind = Kind::EqualEarth;
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

    fn fitted(kind: Kind, (west, south, east, north): (f64, f64, f64, f64), width: f64, height: f64) -> Self {
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

    /// Whether a pixel lies in the picture.
    pub(super) fn shows(&self, x: f64, y: f64) -> bool {
        (0.0..=self.width).contains(&x) && (0.0..=self.height).contains(&y)
    }
}

impl Kind {
    fn flatten(self, lon: f64, lat: f64) -> (f64, f64) {
        match self {
            Self::Flat { squeeze } => (lon * squeeze, lat),
            Self::EqualEarth => {
                // Šavrič, Patterson, Jenny (2019), The Equal Earth map projection.
                const A: [f64; 4] = [1.340_264, -0.081_106, 0.000_893, 0.003_796];
                let root = 3_f64.sqrt();
                let t = (root / 2.0 * lat.to_radians().sin()).asin();
                let (t2, t6) = (t * t, t.powi(6));
                let slope = 9.0 * A[3] * t6 * t2 + 7.0 * A[2] * t6 + 3.0 * A[1] * t2 + A[0];
                let x = 2.0 * root * lon.to_radians() * t.cos() / (3.0 * slope);
                let y = t * (A[3] * t6 * t2 + A[2] * t6 + A[1] * t2 + A[0]);
                (x, y)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_fills_the_picture_with_north_up() {
        let world = Projection::world(1000.0, 500.0);
        let (west, _) = world.place(-180.0, 0.0);
        let (east, _) = world.place(180.0, 0.0);
        assert!(west >= -0.5 && east <= 1000.5 && east - west > 900.0, "{west} {east}");
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

//! The embedded polygons: headers first, so that a lookup unpacks only the parts whose box contains the point.
//!
//! The layout is described in `data/README.md`.

use geo::{Coord, LineString, Polygon};

use super::ZONE_SHAPES;

const MAGIC: &[u8; 4] = b"IMPZ";
const SCALE: f64 = 1000.0;

/// An area of the map: a zone, or the part of an American zone that lies in one state.
#[derive(Debug)]
pub struct Area {
    /// `FR`, or `US-PJM:VA`.
    pub name: &'static str,
    /// In square degrees, before simplification.
    pub size: f32,
    pub parts: Vec<Part>,
}

/// One polygon of an area, still packed.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub bounds: Bounds,
    corner: (i64, i64),
    rings: &'static [u8],
}

/// A box in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

impl Bounds {
    /// Whether a point lies in the box or at most `margin` degrees beside it.
    #[must_use]
    pub fn contain(&self, lon: f64, lat: f64, margin: f64) -> bool {
        self.west - margin <= lon
            && lon <= self.east + margin
            && self.south - margin <= lat
            && lat <= self.north + margin
    }
}

/// The headers of every area, in the order of the file.
#[must_use]
pub fn areas() -> Vec<Area> {
    let bytes = ZONE_SHAPES.bytes();
    assert!(bytes.starts_with(MAGIC), "zones.bin is not a zone file");
    let mut start = Reader { bytes: &bytes[4..] };
    let (areas, _parts, head) = (start.u32(), start.u32(), start.u32());
    let (head, mut body) = start.bytes.split_at(head as usize);
    let mut head = Reader { bytes: head };
    (0..areas)
        .map(|_| {
            let length = head.number() as usize;
            let name = std::str::from_utf8(head.take(length)).expect("names are ASCII");
            let size = f32::from_bits(head.u32());
            let parts = (0..head.number())
                .map(|_| {
                    let corner = (head.signed(), head.signed());
                    let (width, height) = (head.number(), head.number());
                    let (rings, rest) = body.split_at(head.number() as usize);
                    body = rest;
                    Part {
                        bounds: Bounds {
                            west: corner.0 as f64 / SCALE,
                            south: corner.1 as f64 / SCALE,
                            east: (corner.0 + width as i64) as f64 / SCALE,
                            north: (corner.1 + height as i64) as f64 / SCALE,
                        },
                        corner,
                        rings,
                    }
                })
                .collect();
            Area { name, size, parts }
        })
        .collect()
}

impl Part {
    /// The polygon itself.
    #[must_use]
    pub fn polygon(&self) -> Polygon<f64> {
        let mut reader = Reader { bytes: self.rings };
        let mut rings = (0..reader.number()).map(|_| self.ring(&mut reader));
        let outline = rings.next().unwrap_or_else(|| LineString::new(Vec::new()));
        let holes = rings.collect();
        Polygon::new(outline, holes)
    }

    fn ring(&self, reader: &mut Reader) -> LineString<f64> {
        let (mut x, mut y) = self.corner;
        (0..reader.number())
            .map(|_| {
                x += reader.signed();
                y += reader.signed();
                Coord {
                    x: x as f64 / SCALE,
                    y: y as f64 / SCALE,
                }
            })
            .collect()
    }
}

/// Reads the embedded file, whose checksum a test verifies; a read past its end is a bug, not an input error.
struct Reader {
    bytes: &'static [u8],
}

impl Reader {
    fn take(&mut self, count: usize) -> &'static [u8] {
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        taken
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four bytes were taken"))
    }

    fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn signed(&mut self) -> i64 {
        let value = self.number();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use geo::BoundingRect;

    use super::*;

    #[test]
    fn the_shipped_polygons_fill_their_boxes() {
        let areas = areas();
        assert_eq!(areas.len(), 418);
        for part in areas.iter().flat_map(|area| &area.parts) {
            let bounds = part.polygon().bounding_rect().unwrap();
            assert_eq!(
                (
                    bounds.min().x,
                    bounds.min().y,
                    bounds.max().x,
                    bounds.max().y
                ),
                (
                    part.bounds.west,
                    part.bounds.south,
                    part.bounds.east,
                    part.bounds.north
                )
            );
        }
    }
}

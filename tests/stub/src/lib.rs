//! The C functions of NVML that `impact` calls, answered from a scenario file.
//!
//! `IMPACT_STUB_SCENARIO` names the file; it is read anew at every call, so a tracked command can
//! move the meter. A line is `board` or `process` and `key=value` pairs:
//!
//! ```text
//! board uuid=GPU-1 name=Stub power=150 energy=12000 temperature=61 load=40
//! process board=0 pid=4711 sm=75 memory=512 time=1000
//! ```
//!
//! Power is in W, energy in mJ, memory in MiB, time in microseconds. A board without `energy` has no
//! counter, one without `power` no meter at all, and `lost=1` takes it off the bus.
//!
//! `IMPACT_STUB_CALLS` names a file that gets the name of each function that is called.
//!
//! `fault call=nvmlInit_v2 kind=hang` makes one function hang; `kind=crash` makes it crash; `kind=kill` ends the process
//! at once. With `after=9` instead of `call`, the tenth call of the process is the one. `process=impact-caps` limits a
//! fault to processes of this name.
//!
//! `limit`, `default`, `least` and `most` are power limits in W. A limit that is set lasts: it is written to the folder
//! that `IMPACT_STUB_LIMITS` names, into a file called after the board. `permission=no` refuses to set it.

mod scenario;

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::ptr;

use scenario::{Board, Scenario};

const SUCCESS: c_uint = 0;
const INVALID_ARGUMENT: c_uint = 2;
const NOT_SUPPORTED: c_uint = 3;
const NO_PERMISSION: c_uint = 4;
const NOT_FOUND: c_uint = 6;
const INSUFFICIENT_SIZE: c_uint = 7;
const GPU_IS_LOST: c_uint = 15;

/// A board's handle is its index plus one, dressed as a pointer.
type Handle = *mut u8;

#[repr(C)]
pub struct Memory {
    version: c_uint,
    total: c_ulonglong,
    reserved: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

#[repr(C)]
pub struct Utilization {
    gpu: c_uint,
    memory: c_uint,
}

#[repr(C)]
pub struct ProcessInfo {
    pid: c_uint,
    used: c_ulonglong,
    gpu_instance: c_uint,
    compute_instance: c_uint,
}

#[repr(C)]
pub struct ProcessSample {
    pid: c_uint,
    time: c_ulonglong,
    sm: c_uint,
    memory: c_uint,
    encoder: c_uint,
    decoder: c_uint,
}

/// Answers with a number of the board, or with why there is none.
unsafe fn answer<T>(device: Handle, out: *mut T, value: impl Fn(&Board) -> Option<T>) -> c_uint {
    let scenario = Scenario::now();
    let board = match scenario.boards.get((device as usize).wrapping_sub(1)) {
        None => return INVALID_ARGUMENT,
        Some(board) if board.is_lost() => return GPU_IS_LOST,
        Some(board) => board,
    };
    match value(board) {
        Some(value) => {
            // SAFETY: the caller gives room for one value.
            unsafe { ptr::write(out, value) };
            SUCCESS
        }
        None => NOT_SUPPORTED,
    }
}

unsafe fn write_text(text: &str, out: *mut c_char, room: c_uint) -> c_uint {
    if text.len() >= room as usize {
        return INSUFFICIENT_SIZE;
    }
    // SAFETY: the caller gives `room` bytes, and the text with its end is no longer.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), out, text.len());
        ptr::write(out.add(text.len()), 0);
    }
    SUCCESS
}

/// Fills the caller's list, or says how long it must be.
unsafe fn fill<T>(items: Vec<T>, out: *mut T, count: *mut c_uint) -> c_uint {
    // SAFETY: the caller gives room for `count` items at `out`, and for the count itself.
    unsafe {
        let room = *count as usize;
        *count = items.len() as c_uint;
        if items.len() > room {
            return INSUFFICIENT_SIZE;
        }
        for (i, item) in items.into_iter().enumerate() {
            ptr::write(out.add(i), item);
        }
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_uint {
    scenario::called("nvmlInit_v2");
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> c_uint {
    scenario::called("nvmlShutdown");
    SUCCESS
}

/// # Safety
/// `out` has room for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlSystemGetDriverVersion(out: *mut c_char, room: c_uint) -> c_uint {
    scenario::called("nvmlSystemGetDriverVersion");
    // SAFETY: as the caller promises.
    unsafe { write_text("555.42.stub", out, room) }
}

/// # Safety
/// `out` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetCount_v2(out: *mut c_uint) -> c_uint {
    scenario::called("nvmlDeviceGetCount_v2");
    // SAFETY: as the caller promises.
    unsafe { ptr::write(out, Scenario::now().boards.len() as c_uint) };
    SUCCESS
}

/// # Safety
/// `out` has room for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, out: *mut Handle) -> c_uint {
    scenario::called("nvmlDeviceGetHandleByIndex_v2");
    if index as usize >= Scenario::now().boards.len() {
        return INVALID_ARGUMENT;
    }
    // SAFETY: as the caller promises.
    unsafe { ptr::write(out, ptr::without_provenance_mut(index as usize + 1)) };
    SUCCESS
}

macro_rules! texts {
    ($($function:ident => $key:literal),*) => {$(
        /// # Safety
        /// `out` has room for `room` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(device: Handle, out: *mut c_char, room: c_uint) -> c_uint {
            scenario::called(stringify!($function));
            let mut text = String::new();
            // SAFETY: the text outlives the call, and the caller promises the room.
            unsafe {
                match answer(device, &raw mut text, |board| board.text($key)) {
                    SUCCESS => write_text(&text, out, room),
                    error => error,
                }
            }
        }
    )*};
}

texts!(nvmlDeviceGetUUID => "uuid", nvmlDeviceGetName => "name");

macro_rules! numbers {
    ($($function:ident => $key:literal * $factor:literal as $kind:ty),*) => {$(
        /// # Safety
        /// `out` has room for a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(device: Handle, out: *mut $kind) -> c_uint {
            scenario::called(stringify!($function));
            // SAFETY: as the caller promises.
            unsafe { answer(device, out, |board| Some((board.number($key)? * $factor) as $kind)) }
        }
    )*};
}

numbers!(
    nvmlDeviceGetPowerUsage => "power" * 1000.0 as c_uint,
    nvmlDeviceGetTotalEnergyConsumption => "energy" * 1.0 as c_ulonglong,
    nvmlDeviceGetPowerManagementDefaultLimit => "default" * 1000.0 as c_uint,
    nvmlDeviceGetPerformanceState => "pstate" * 1.0 as c_uint
);

macro_rules! limits {
    ($($function:ident),*) => {$(
        /// # Safety
        /// `out` has room for a number.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(device: Handle, out: *mut c_uint) -> c_uint {
            scenario::called(stringify!($function));
            // SAFETY: as the caller promises.
            unsafe { answer(device, out, Board::limit) }
        }
    )*};
}

limits!(
    nvmlDeviceGetEnforcedPowerLimit,
    nvmlDeviceGetPowerManagementLimit
);

/// # Safety
/// `least` and `most` have room for a number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetPowerManagementLimitConstraints(
    device: Handle,
    least: *mut c_uint,
    most: *mut c_uint,
) -> c_uint {
    scenario::called("nvmlDeviceGetPowerManagementLimitConstraints");
    let limit = |key: &'static str| move |board: &Board| board.milliwatts(key);
    // SAFETY: as the caller promises.
    unsafe {
        match answer(device, least, limit("least")) {
            SUCCESS => answer(device, most, limit("most")),
            error => error,
        }
    }
}

/// # Safety
/// As of every function: the handle is one of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceSetPowerManagementLimit(
    device: Handle,
    limit: c_uint,
) -> c_uint {
    scenario::called("nvmlDeviceSetPowerManagementLimit");
    let mut board = None;
    // SAFETY: the option outlives the call.
    match unsafe { answer(device, &raw mut board, |board| Some(Some(board.clone()))) } {
        SUCCESS => {}
        error => return error,
    }
    let Some(board) = board else {
        return INVALID_ARGUMENT;
    };
    let (Some(least), Some(most)) = (board.milliwatts("least"), board.milliwatts("most")) else {
        return NOT_SUPPORTED;
    };
    if board.text("permission").as_deref() == Some("no") {
        return NO_PERMISSION;
    }
    if !(least..=most).contains(&limit) {
        return INVALID_ARGUMENT;
    }
    board.keep_limit(limit);
    SUCCESS
}

/// # Safety
/// `out` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetTemperature(
    device: Handle,
    _sensor: c_uint,
    out: *mut c_uint,
) -> c_uint {
    scenario::called("nvmlDeviceGetTemperature");
    // SAFETY: as the caller promises.
    unsafe {
        answer(device, out, |board| {
            Some(board.number("temperature")? as c_uint)
        })
    }
}

/// # Safety
/// `out` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetClockInfo(
    device: Handle,
    _clock: c_uint,
    out: *mut c_uint,
) -> c_uint {
    scenario::called("nvmlDeviceGetClockInfo");
    // SAFETY: as the caller promises.
    unsafe { answer(device, out, |board| Some(board.number("clock")? as c_uint)) }
}

/// # Safety
/// `out` has room for the two rates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetUtilizationRates(
    device: Handle,
    out: *mut Utilization,
) -> c_uint {
    scenario::called("nvmlDeviceGetUtilizationRates");
    let rates = |board: &Board| {
        Some(Utilization {
            gpu: board.number("load")? as c_uint,
            memory: 0,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { answer(device, out, rates) }
}

/// # Safety
/// `out` has room for the structure of version 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: Handle, out: *mut Memory) -> c_uint {
    scenario::called("nvmlDeviceGetMemoryInfo_v2");
    let memory = |board: &Board| {
        let total = mebibytes(board.number("total")?);
        let used = mebibytes(board.number("used").unwrap_or(0.0));
        Some(Memory {
            version: 2,
            total,
            reserved: 0,
            free: total - used,
            used,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { answer(device, out, memory) }
}

fn mebibytes(number: f64) -> u64 {
    (number * 1024.0 * 1024.0) as u64
}

/// # Safety
/// `out` has room for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: Handle,
    count: *mut c_uint,
    out: *mut ProcessInfo,
) -> c_uint {
    scenario::called("nvmlDeviceGetComputeRunningProcesses_v3");
    let mut lost = ();
    // SAFETY: as the caller promises.
    unsafe {
        match answer(device, &raw mut lost, |_| Some(())) {
            SUCCESS => {}
            error => return error,
        }
        let scenario = Scenario::now();
        let infos = scenario
            .processes_on(device as usize - 1)
            .map(|process| ProcessInfo {
                pid: process.number("pid").unwrap_or(0.0) as c_uint,
                used: mebibytes(process.number("memory").unwrap_or(0.0)),
                gpu_instance: c_uint::MAX,
                compute_instance: c_uint::MAX,
            });
        fill(infos.collect(), out, count)
    }
}

/// # Safety
/// `out` has room for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetGraphicsRunningProcesses_v3(
    _device: Handle,
    count: *mut c_uint,
    out: *mut ProcessInfo,
) -> c_uint {
    scenario::called("nvmlDeviceGetGraphicsRunningProcesses_v3");
    // SAFETY: as the caller promises.
    unsafe { fill(Vec::new(), out, count) }
}

/// # Safety
/// `out` has room for `count` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetProcessUtilization(
    device: Handle,
    out: *mut ProcessSample,
    count: *mut c_uint,
    last_seen: c_ulonglong,
) -> c_uint {
    scenario::called("nvmlDeviceGetProcessUtilization");
    let scenario = Scenario::now();
    let samples: Vec<ProcessSample> = scenario
        .processes_on((device as usize).wrapping_sub(1))
        .filter_map(|process| {
            Some(ProcessSample {
                pid: process.number("pid")? as c_uint,
                time: process.number("time")? as c_ulonglong,
                sm: process.number("sm")? as c_uint,
                memory: 0,
                encoder: 0,
                decoder: 0,
            })
        })
        .filter(|sample| sample.time > last_seen)
        .collect();
    if samples.is_empty() {
        return NOT_FOUND;
    }
    // SAFETY: as the caller promises.
    unsafe { fill(samples, out, count) }
}

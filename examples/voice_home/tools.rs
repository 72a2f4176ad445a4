//! The tools: eleven of Home Assistant's intents, a function each.
//!
//! A tool returns the slots that it understood. Two calls with equal results mean the same: `50` and
//! `50.0`, or an omitted slot and `null`.

use serde::Serialize;
use serde_json::{Value, json};
use tool_core::{ToolType, tool};

/// Kind of device.
#[derive(Clone, Copy, Serialize, ToolType)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Domain {
    Climate,
    Cover,
    Fan,
    InputBoolean,
    Light,
    Lock,
    MediaPlayer,
    Scene,
    Script,
    Sensor,
    Switch,
    Vacuum,
    Valve,
}

/// Turns on a device, or all devices of a kind in an area. Opens covers.
#[tool(name = "HassTurnOn", destructive = false, idempotent)]
pub(crate) fn turn_on(
    /// Name of the device.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Devices of this kind in the area.
    domain: Option<Domain>,
    /// Devices of this class in the area, such as `window`.
    device_class: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class,
    })
}

/// Turns off a device, or all devices of a kind in an area. Closes covers.
#[tool(name = "HassTurnOff", destructive = false, idempotent)]
pub(crate) fn turn_off(
    /// Name of the device.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Devices of this kind in the area.
    domain: Option<Domain>,
    /// Devices of this class in the area, such as `window`.
    device_class: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class,
    })
}

/// Gets the state of a device, or checks if devices are in a state.
#[tool(name = "HassGetState", read_only)]
pub(crate) fn get_state(
    /// Name of the device.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Devices of this kind in the area.
    domain: Option<Domain>,
    /// Devices of this class in the area, such as `window`.
    device_class: Option<&str>,
    /// State to check for, such as `open`.
    state: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class, "state": state,
    })
}

/// Moves a device, such as a blind, to a position.
#[tool(name = "HassSetPosition", destructive = false, idempotent)]
pub(crate) fn set_position(
    /// Name of the device.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Devices of this kind in the area.
    domain: Option<Domain>,
    /// Devices of this class in the area, such as `curtain`.
    device_class: Option<&str>,
    /// Percent: 0 is closed, 100 is open.
    #[param(range = 0..=100)]
    position: u8,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class, "position": position,
    })
}

/// Sets the brightness or color of lights.
#[tool(name = "HassLightSet", destructive = false, idempotent)]
pub(crate) fn light_set(
    /// Name of the light.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Brightness in percent.
    #[param(range = 0..=100)]
    brightness: Option<u8>,
    /// Name of a color.
    color: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor, "brightness": brightness, "color": color,
    })
}

/// Sets the target temperature indoors.
#[tool(name = "HassClimateSetTemperature", destructive = false, idempotent)]
pub(crate) fn climate_set_temperature(
    /// Name of the thermostat.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Degrees in the home's unit.
    temperature: f64,
) -> Value {
    json!({ "name": name, "area": area, "floor": floor, "temperature": temperature })
}

/// Gets the current temperature indoors, not the target temperature.
#[tool(name = "HassClimateGetTemperature", read_only)]
pub(crate) fn climate_get_temperature(
    /// Name of the thermostat.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
) -> Value {
    json!({ "name": name, "area": area, "floor": floor })
}

/// Adds an item to a list, such as the shopping list.
#[tool(name = "HassListAddItem", destructive = false)]
pub(crate) fn list_add_item(
    /// Item to add.
    item: &str,
    /// Name of the list.
    name: &str,
) -> Value {
    json!({ "item": item, "name": name })
}

/// Starts a timer.
///
/// # When to use
/// The user wants a reminder or an action after a delay.
#[tool(name = "HassStartTimer", destructive = false)]
pub(crate) fn start_timer(
    hours: Option<u32>,
    minutes: Option<u32>,
    seconds: Option<u32>,
    /// Label of the timer.
    name: Option<&str>,
    /// Command to run when the timer ends.
    conversation_command: Option<&str>,
) -> Value {
    json!({
        "hours": hours, "minutes": minutes, "seconds": seconds,
        "name": name, "conversation_command": conversation_command,
    })
}

/// Gets the current time.
#[tool(name = "HassGetCurrentTime", read_only)]
pub(crate) fn get_current_time() -> Value {
    json!({})
}

/// Does nothing: the user took the command back.
#[tool(name = "HassNevermind", read_only)]
pub(crate) fn nevermind() -> Value {
    json!({})
}

//! The tools: eleven of Home Assistant's intents. Each has a function of its own.
//!
//! A tool answers with the slots that it understood, so two calls mean the same when their answers
//! are the same: `50` and `50.0`, a slot that is left out and one that is `null`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{ToolType, tool};

/// Kind of device.
#[derive(Clone, Copy, Deserialize, Serialize, ToolType)]
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

/// Turns on a device, or all devices of a kind in a place. Opens covers.
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

/// Turns off a device, or all devices of a kind in a place. Closes covers.
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

/// Tells the state of a device, or whether devices are in a state.
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
    /// The state to look for, such as `open`.
    state: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class, "state": state,
    })
}

/// Moves something to a position, such as a blind.
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
    /// Per cent: 0 is closed, 100 is open.
    #[param(range = 0..=100)]
    position: u8,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor,
        "domain": domain, "device_class": device_class, "position": position,
    })
}

/// Sets the brightness or the colour of lights.
#[tool(name = "HassLightSet", destructive = false, idempotent)]
pub(crate) fn light_set(
    /// Name of the light.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Per cent.
    #[param(range = 0..=100)]
    brightness: Option<u8>,
    /// Name of a colour.
    color: Option<&str>,
) -> Value {
    json!({
        "name": name, "area": area, "floor": floor, "brightness": brightness, "color": color,
    })
}

/// Sets the temperature that it shall be indoors.
#[tool(name = "HassClimateSetTemperature", destructive = false, idempotent)]
pub(crate) fn climate_set_temperature(
    /// Name of the thermostat.
    name: Option<&str>,
    /// Name of a room or another area.
    area: Option<&str>,
    /// Name of a floor.
    floor: Option<&str>,
    /// Degrees, in the unit of the house.
    temperature: f64,
) -> Value {
    json!({ "name": name, "area": area, "floor": floor, "temperature": temperature })
}

/// Tells the temperature that it is indoors, not the one that was set.
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

/// Puts something on a list, such as that of the shopping.
#[tool(name = "HassListAddItem", destructive = false)]
pub(crate) fn list_add_item(
    /// What to put on it.
    item: &str,
    /// Name of the list.
    name: &str,
) -> Value {
    json!({ "item": item, "name": name })
}

/// Starts a timer.
///
/// # When to use
/// Somebody wants to be told after a while, or wants something done then.
#[tool(name = "HassStartTimer", destructive = false)]
pub(crate) fn start_timer(
    hours: Option<u32>,
    minutes: Option<u32>,
    seconds: Option<u32>,
    /// What the timer is for.
    name: Option<&str>,
    /// A command to carry out at the end.
    conversation_command: Option<&str>,
) -> Value {
    json!({
        "hours": hours, "minutes": minutes, "seconds": seconds,
        "name": name, "conversation_command": conversation_command,
    })
}

/// Tells what time it is.
#[tool(name = "HassGetCurrentTime", read_only)]
pub(crate) fn get_current_time() -> Value {
    json!({})
}

/// Does nothing: the speaker took the command back.
#[tool(name = "HassNevermind", read_only)]
pub(crate) fn nevermind() -> Value {
    json!({})
}

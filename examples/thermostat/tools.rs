//! The thermostat. Its methods are the tools.

use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use tool_core::call::Transient;
use tool_core::toolset;

pub(crate) struct Thermostat {
    /// Temperature of the room. It follows the target at once.
    celsius: Mutex<f64>,
    /// Number of failures still to come.
    failures: Mutex<u32>,
}

impl Thermostat {
    pub(crate) fn new(celsius: f64, failures: u32) -> Thermostat {
        Thermostat {
            celsius: Mutex::new(celsius),
            failures: Mutex::new(failures),
        }
    }

    fn read_sensor(&self) -> Result<f64, SensorError> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fewer) = failures.checked_sub(1) {
            *failures = fewer;
            return Err(SensorError(BusError));
        }
        Ok(*self.celsius.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[toolset]
impl Thermostat {
    /// Gets the current room temperature in degrees Celsius.
    #[tool(read_only)]
    fn get_current_temperature(&self) -> Result<f64, Transient> {
        // The next try often succeeds: the model is told to retry.
        self.read_sensor().map_err(Transient::new)
    }

    /// Sets the target room temperature.
    ///
    /// # Returns
    /// The new target in degrees Celsius.
    #[tool(destructive = false, idempotent)]
    fn set_current_temperature(
        &self,
        /// Target in degrees Celsius.
        #[param(range = 5.0..=30.0)]
        celsius: f64,
    ) -> f64 {
        *self.celsius.lock().unwrap_or_else(PoisonError::into_inner) = celsius;
        celsius
    }
}

/// The error for the model.
#[derive(Debug)]
struct SensorError(BusError);

impl fmt::Display for SensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sensor does not answer")
    }
}

impl Error for SensorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// The cause, for the log only.
#[derive(Debug)]
struct BusError;

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bus 1, address 0x48: no acknowledgement after 25 ms")
    }
}

impl Error for BusError {}

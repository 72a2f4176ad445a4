//! Decodes the text of a model's arguments into the parameters of a function.
//!
//! The usual call is decoded in one pass by [`decode`](crate::decode). Anything unusual leaves this fast
//! path for [`Input::decode_slow`], which finds the cause: invalid JSON, violations, or a spelling
//! that JSON Schema allows and decoding rejects.

use std::any::{Any, TypeId, type_name};
use std::sync::{Arc, OnceLock, Weak};

use crate::call::boundary::Guarded;
use crate::call::cancellation::CancellationToken;
use crate::call::context::CallContext;
use crate::call::type_map::Shared;
use crate::call::{Arguments, CallHead};
use crate::decode::{
    DecodeFailure, DecodeSlot, decode_strict, decode_strict_dry, decode_trusted, with_nulls,
};
use crate::schema::decode_check::rejection;
use crate::schema::messages;
use crate::schema::validate::{
    Normalised, Options, ValidateError, normalise, path_at, push_key, write_secret_mismatch,
};
use crate::schema::violation::{Coercion, Violations};
use crate::schema::{Property, Schema};
use crate::spec::{ToolSpec, wrapped};

/// The input of one call.
pub struct Input {
    /// The tool's parameters, one for each slot.
    parameters: &'static [Property],
    /// The value that the tool is a method of.
    receiver: Option<Shared>,
    context: CallContext,
    text: String,
    /// How the arguments are validated; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    options: Options,
    /// `true` while the arguments are validated without running the tool.
    is_dry_run: bool,
    /// The arguments rewritten for serde, if that was necessary or the call was validated first.
    normalised: OnceLock<Box<Normalised>>,
}

/// The error of arguments that can't be decoded.
pub enum ArgumentError {
    #[doc(hidden)]
    Malformed(String),
    #[doc(hidden)]
    Invalid(InvalidArguments),
    /// The call has no context value of this type, which a note may follow.
    #[doc(hidden)]
    MissingContext(String),
    /// The end of a dry run: the arguments are valid.
    #[doc(hidden)]
    DryRun,
}

/// The violations in a call's arguments.
pub struct InvalidArguments(pub(crate) Violations);

impl From<ValidateError> for ArgumentError {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::NotJson(message) => ArgumentError::Malformed(message),
            ValidateError::Invalid(violations) => {
                ArgumentError::Invalid(InvalidArguments(violations))
            }
        }
    }
}

impl Input {
    #[inline]
    pub(crate) fn new(
        parameters: &'static [Property],
        receiver: Option<Shared>,
        context: CallContext,
        text: String,
        options: Options,
    ) -> Input {
        Input {
            parameters,
            receiver,
            context,
            text,
            options,
            is_dry_run: false,
            normalised: OnceLock::new(),
        }
    }

    /// Replaces the arguments.
    pub(crate) fn set_arguments(&mut self, arguments: Arguments) {
        self.options.is_rounded = arguments.is_rounded();
        self.text = arguments.into_text();
        self.normalised.take();
    }

    /// Validates and normalises the arguments of a tool without running it. `decode` invokes the
    /// tool, which stops after decoding.
    pub(crate) fn validate(
        &mut self,
        tool: &ToolSpec,
        decode: impl FnOnce(&Input) -> Option<ArgumentError>,
    ) -> Result<(), ArgumentError> {
        // Not an assignment, because a second place that drops a lock would keep the first from being
        // inlined, and every call runs the first.
        self.normalised.take();
        self.is_dry_run = true;
        let end = decode(self);
        self.is_dry_run = false;
        match end {
            Some(ArgumentError::DryRun) => {}
            Some(error) => return Err(error),
            None => unreachable!("a dry run ends after decoding"),
        }
        for need in tool.needs() {
            if !self.context.has(need.id()) {
                return Err(self.missing_context(need.name()));
            }
        }
        Ok(())
    }

    /// Returns the arguments as the tool will get them, once they are validated.
    pub(crate) fn normalised_text(&self) -> &str {
        self.normalised
            .get()
            .map_or(&*self.text, |normalised| &normalised.text)
    }

    /// Returns what [`normalised_text`](Self::normalised_text) does, which is gone then.
    pub(crate) fn take_normalised_text(&mut self) -> String {
        match self.normalised.take() {
            Some(normalised) => normalised.text,
            None => std::mem::take(&mut self.text),
        }
    }

    /// Marks the call as finished. Returns the values that were converted.
    #[inline]
    pub(crate) fn finish(&mut self) -> Vec<Coercion> {
        self.context.finish();
        match self.normalised.get_mut() {
            Some(normalised) => std::mem::take(&mut normalised.coercions),
            None => Vec::new(),
        }
    }

    /// Takes the data of the call that its result needs.
    #[inline]
    pub(crate) fn take_head(&mut self) -> CallHead {
        std::mem::take(&mut self.context.head)
    }

    /// Returns how deep the call is nested in other calls, at least 1.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.context.depth
    }

    /// Sets the permit under which calls made through the context run.
    #[inline]
    pub(crate) fn set_depth(&mut self, depth: u32) {
        self.context.depth = depth;
    }

    pub(crate) fn set_permit(&mut self, permit: Weak<dyn Any + Send + Sync>) {
        self.context.set_permit(permit);
    }

    /// Returns the call's cancellation token, which outlives the call.
    pub(crate) fn cancellation(&self) -> &CancellationToken {
        self.context.cancellation()
    }

    /// Returns the context value of this type, or the call's context itself.
    pub fn context<T: Any + Send + Sync>(&self) -> Result<&T, ArgumentError> {
        self.optional_context()
            .ok_or_else(|| self.missing_context(type_name::<T>()))
    }

    #[cold]
    fn missing_context(&self, type_name: &'static str) -> ArgumentError {
        ArgumentError::MissingContext(match self.context.near_miss(type_name) {
            Some(note) => format!("`{type_name}` ({note})"),
            None => format!("`{type_name}`"),
        })
    }

    /// Returns the context value of this type, if there is one.
    pub fn optional_context<T: Any + Send + Sync>(&self) -> Option<&T> {
        if TypeId::of::<T>() == TypeId::of::<CallContext>() {
            return (&self.context as &dyn Any).downcast_ref();
        }
        self.context.get()
    }

    /// Returns the value that the tool is a method of.
    ///
    /// # Panics
    ///
    /// Panics if the tool is not a method of this type.
    pub fn receiver<T: Any>(&self) -> &T {
        self.receiver
            .as_ref()
            .and_then(|receiver| Some(&**receiver.downcast_ref::<Guarded<Arc<T>>>()?.get()?))
            .expect("a method is called on what its toolset was given for")
    }

    /// Decodes each parameter into its slot. Returns all violations.
    pub fn read<'a>(&'a self, slots: &mut [&mut dyn DecodeSlot<'a>]) -> Result<(), ArgumentError> {
        if self.is_dry_run {
            self.read_dry(slots)
        } else if decode_strict(&self.text, self.parameters, slots) {
            Ok(())
        } else {
            self.decode_slow(slots)
        }
    }

    /// Decodes the parameter of a tool that a provider trained, which takes the whole input.
    pub fn read_whole<'a>(
        &'a self,
        key: &str,
        slots: &mut [&mut dyn DecodeSlot<'a>],
    ) -> Result<(), ArgumentError> {
        if self.normalised.get().is_none()
            && let Some(text) = wrapped(key, &self.text)
        {
            let normalised = normalise(&Schema::object(self.parameters), &text, self.options);
            let normalised = normalised.map_err(|error| match error {
                // The model did not write the key.
                ValidateError::Invalid(violations) => ValidateError::Invalid(violations.below(key)),
                other @ ValidateError::NotJson(_) => other,
            })?;
            self.normalised.get_or_init(|| Box::new(normalised));
        }
        self.read(slots)
    }

    /// Reads the arguments and ends a dry run. What was decoded is not decoded again, even if it is written in another way.
    #[cold]
    fn read_dry<'a>(&'a self, slots: &mut [&mut dyn DecodeSlot<'a>]) -> Result<(), ArgumentError> {
        match decode_strict_dry(&self.text, self.parameters, slots) {
            Some((true, nulls)) => {
                if !nulls.is_empty() {
                    let text = with_nulls(&self.text, nulls);
                    let coercions = Vec::new();
                    let normalised = Normalised { text, coercions };
                    self.normalised.get_or_init(|| Box::new(normalised));
                }
                #[cfg(debug_assertions)]
                self.assert_normalised();
            }
            Some((false, _)) => {
                self.normalise()?;
            }
            None => self.decode_slow(slots)?,
        }
        Err(ArgumentError::DryRun)
    }

    /// Validates the arguments and rewrites them for serde, unless that is done.
    fn normalise(&self) -> Result<&Normalised, ArgumentError> {
        if let Some(validated) = self.normalised.get() {
            return Ok(validated);
        }
        let schema = Schema::object(self.parameters);
        let normalised = normalise(&schema, &self.text, self.options)?;
        Ok(self.normalised.get_or_init(|| Box::new(normalised)))
    }

    /// Fails if validation would make other arguments of the text.
    #[cfg(debug_assertions)]
    fn assert_normalised(&self) {
        let schema = Schema::object(self.parameters);
        let normalised = normalise(&schema, &self.text, self.options);
        let normalised = normalised.ok().map(|normalised| normalised.text);
        assert_eq!(normalised.as_deref(), Some(self.normalised_text()));
    }

    /// Returns the text of the arguments.
    #[cfg(feature = "dynamic")]
    pub(crate) fn text(&self) -> &str {
        self.normalised_text()
    }

    /// Returns `true` while the arguments are validated without running the tool.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    /// Ends a dry run with the arguments as the tool will get them. Otherwise does nothing.
    #[cfg(feature = "dynamic")]
    pub(crate) fn end_dry_run(&self, text: impl FnOnce() -> String) -> Result<(), ArgumentError> {
        if !self.is_dry_run {
            return Ok(());
        }
        self.normalised.get_or_init(|| {
            Box::new(Normalised {
                text: text(),
                coercions: Vec::new(),
            })
        });
        Err(ArgumentError::DryRun)
    }

    /// Decodes arguments that the fast path did not. Starts over, so that the result does not depend
    /// on how far the fast path came.
    #[cold]
    fn decode_slow<'a>(
        &'a self,
        slots: &mut [&mut dyn DecodeSlot<'a>],
    ) -> Result<(), ArgumentError> {
        let normalised = self.normalise()?;
        let decoded = decode_trusted(&normalised.text, self.parameters, slots);
        decoded.map_err(|failure| {
            let violations = match failure {
                Some(DecodeFailure {
                    property,
                    error,
                    at,
                }) => {
                    let schema = property.schema;
                    let whole = messages::text(|out| push_key(out, property.name()));
                    if schema.has_secrets() {
                        let message = messages::text(|out| write_secret_mismatch(out, schema));
                        let violations = Violations::one(whole, &message);
                        return ValidateError::Invalid(violations).into();
                    }
                    let value = normalised.text.get(at.start..).unwrap_or_default();
                    let path = path_at(whole.clone(), value, at.len());
                    // The schema describes the whole parameter, not a value inside of it.
                    let schema = (path == whole).then_some(property.schema);
                    Violations::one(path, &rejection(&error.to_string(), schema))
                }
                None => Violations::one(String::new(), "could not be decoded"),
            };
            ValidateError::Invalid(violations).into()
        })
    }
}

/// A place
/// on Earth.
#[derive(Deserialize, ToolType)]
#[serde(rename_all = "camelCase")]
struct Place<T: Clone> {
    /// Metres above the sea.
    #[serde(default)]
    sea_level: i32,
    name: Option<T>,
    #[serde(skip)]
    cache: Cache,
}

#[derive(ToolType)]
struct Metres(f64);

#[derive(ToolType)]
#[param(crate = crate::toolbox)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    Celsius,
    DegreesFahrenheit,
}

#[derive(ToolType)]
union Bits {
    float: f32,
    integer: u32,
}

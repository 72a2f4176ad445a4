//! A JSON parser. `serde_json` would have to be compiled a second time, for the host.

/// A JSON value. Numbers are text, and objects keep their order.
pub(super) enum Json {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub(super) fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { rest: text };
    let json = reader.value()?;
    match reader.next() {
        None => Ok(json),
        Some(_) => Err(reader.wrong("the end")),
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
        self.rest.chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.next();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn wrong(&self, wanted: &str) -> String {
        let got: String = self.rest.chars().take(12).collect();
        if got.is_empty() {
            format!("invalid JSON: expected {wanted} at the end of the text")
        } else {
            format!("invalid JSON: expected {wanted} at `{got}`")
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.next() {
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('"') => self.string().map(Json::String),
            Some('-' | '0'..='9') => {
                let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                let (number, rest) = self.rest.split_at(end);
                self.rest = rest;
                match number.parse::<f64>() {
                    Ok(_) => Ok(Json::Number(number.into())),
                    Err(_) => Err(format!("invalid JSON: `{number}` is not a number")),
                }
            }
            _ if self.eat("true") => Ok(Json::Boolean(true)),
            _ if self.eat("false") => Ok(Json::Boolean(false)),
            _ if self.eat("null") => Ok(Json::Null),
            _ => Err(self.wrong("a value")),
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut members: Vec<(String, Json)> = Vec::new();
        self.eat("{");
        while !self.eat("}") {
            if !members.is_empty() && !self.eat(",") {
                return Err(self.wrong("`,` or `}`"));
            }
            self.next();
            let key = self.string()?;
            if !self.eat(":") {
                return Err(self.wrong("`:`"));
            }
            if members.iter().any(|(other, _)| *other == key) {
                return Err(format!("duplicate key `{key}`; remove one of the two"));
            }
            members.push((key, self.value()?));
        }
        Ok(Json::Object(members))
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        self.eat("[");
        while !self.eat("]") {
            if !items.is_empty() && !self.eat(",") {
                return Err(self.wrong("`,` or `]`"));
            }
            items.push(self.value()?);
        }
        Ok(Json::Array(items))
    }

    fn string(&mut self) -> Result<String, String> {
        let Some(inner) = self.rest.strip_prefix('"') else {
            return Err(self.wrong("a string"));
        };
        let mut text = String::new();
        let mut characters = inner.chars();
        loop {
            match characters.next() {
                None => return Err("invalid JSON: a string has no closing quote".into()),
                Some('"') => break,
                Some('\\') => text.push(escape(&mut characters)?),
                Some(other) => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Ok(text)
    }
}

fn escape(characters: &mut std::str::Chars<'_>) -> Result<char, String> {
    let unknown = || String::from("invalid JSON: unknown escape in a string");
    Ok(match characters.next().ok_or_else(unknown)? {
        mark @ ('"' | '\\' | '/') => mark,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let digits: String = characters.by_ref().take(4).collect();
            let code = u32::from_str_radix(&digits, 16).map_err(|_| unknown())?;
            // Surrogate pairs are not supported; the character itself can be written.
            char::from_u32(code).ok_or_else(unknown)?
        }
        _ => return Err(unknown()),
    })
}

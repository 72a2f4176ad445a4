CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, year INTEGER, price REAL);
CREATE TABLE loans (book INTEGER NOT NULL REFERENCES books (id), reader TEXT NOT NULL, due TEXT NOT NULL);
INSERT INTO books VALUES
  (1, 'Middlemarch', 'George Eliot', 1871, 12.5),
  (2, 'Os Maias', 'Eça de Queirós', 1888, 14.0),
  (3, 'Effi Briest', 'Theodor Fontane', 1895, 9.9),
  (4, 'Nervous Conditions', 'Tsitsi Dangarembga', 1988, 11.0),
  (5, 'The Book of Sand', 'Jorge Luis Borges', 1975, NULL);
INSERT INTO loans VALUES (2, 'Inês', '2026-03-02'), (3, 'Inês', '2026-02-20'), (5, 'Kofi', '2026-02-27');

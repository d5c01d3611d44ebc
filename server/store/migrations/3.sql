ALTER TABLE messages ADD COLUMN metadata_json TEXT;

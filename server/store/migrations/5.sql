ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';
CREATE INDEX IF NOT EXISTS idx_sessions_type ON sessions(session_type);

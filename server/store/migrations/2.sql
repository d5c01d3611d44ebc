ALTER TABLE sessions ADD COLUMN user_recipe_values_json TEXT;

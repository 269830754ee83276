"""Tables as people have them: text, truth values and missing values, made into numbers."""

"""The honest number: selection and model judged on rows that took no part in either."""

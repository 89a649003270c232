"""Tools for authors of exercises: start an exercise (`new`), prove it sound (`check`, `mutants`),
hand it out (`handout`), run it over sizes (`sweep`)."""

"""For authors of exercises: begin one (`new`), prove it sound (`check`, `mutants`), hand it out
(`handout`), see its sizes (`sweep`)."""

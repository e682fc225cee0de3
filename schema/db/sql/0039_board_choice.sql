-- Who wants to see only the own jobs on the board.
CREATE TABLE board_choices (
  person TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

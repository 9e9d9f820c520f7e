-- The row is inserted by the first merge, so that a new database has no rows and a backup can be restored into it.
delete from main.activity_head where position = 0;

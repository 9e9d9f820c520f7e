-- From now on, the first merge inserts the row of `activity_head`. In a new database this table is then empty, so that a backup can be restored
-- into the database.
delete from main.activity_head where position = 0;

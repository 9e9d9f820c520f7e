-- Deletes the row of `activity_head` if no position has been assigned: the first merge now inserts the row. So the table is empty in a new
-- database, and a backup can be restored into this database.
delete from main.activity_head where position = 0;

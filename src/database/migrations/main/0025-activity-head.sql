-- From now on, the first merge inserts the row. A new database then has an empty table, so that a backup can be restored into it.
delete from main.activity_head where position = 0;

// A JSON API with express, in one process or, with an argument, in a cluster of so many. An order reads the item's
// row and writes one.
'use strict';
const cluster = require('node:cluster');
const express = require('express');
const { Pool } = require('pg');

const SQL = `with item as (select id, name, cents from items where id = $1::int),
written as (insert into orders (item, pieces) select id, $2::int from item)
select name, cents * $2::int as total from item`;
const workers = Number(process.argv[2] ?? 1);

function serve() {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 8 });
  const app = express();
  app.use(express.json());
  app.get('/health', (_request, response) => response.json({}));
  app.post('/orders', (request, response, next) => {
    const { item, pieces } = request.body;
    // A name, so that the statement is prepared once for each connection.
    const order = { name: 'order', text: SQL, values: [item, pieces] };
    pool.query(order).then(({ rows: [row] }) => response.status(201).json(row), next);
  });
  app.listen(8080, '0.0.0.0');
}

if (workers > 1 && cluster.isPrimary) {
  for (let started = 0; started < workers; started += 1) cluster.fork();
} else {
  serve();
}

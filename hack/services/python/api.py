"""A JSON API for gunicorn. An order reads the item's row and writes one."""

import json
import os
import threading

import psycopg2

SQL = """with item as (select id, name, cents from items where id = %(item)s),
written as (insert into orders (item, pieces) select id, %(pieces)s from item)
select name, cents * %(pieces)s from item"""
# Each thread has a connection of its own.
LOCAL = threading.local()


def cursor():
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = psycopg2.connect(os.environ["DATABASE_URL"])
        LOCAL.connection.autocommit = True
    return LOCAL.connection.cursor()


def answer(environ):
    route = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if route == ("GET", "/health"):
        return "200 OK", {}
    if route != ("POST", "/orders"):
        return "404 Not Found", {}
    order = json.load(environ["wsgi.input"])
    with cursor() as rows:
        rows.execute(SQL, {"item": int(order["item"]), "pieces": int(order["pieces"])})
        name, total = rows.fetchone()
    return "201 Created", {"name": name, "total": total}


def app(environ, start_response):
    status, document = answer(environ)
    body = json.dumps(document).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]

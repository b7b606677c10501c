"""A page with Django, which checks the host. Its key is in a Secret, its rows are made by an init container: this
file as a program."""

import os

from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["shop.example.com"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "/data/shop.sqlite3"}},
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    ROOT_URLCONF=__name__,
    SECRET_KEY=os.environ["SECRET_KEY"],
)

from django.core.signing import Signer
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.http import HttpResponse
from django.urls import path


def index(request):
    with connection.cursor() as cursor:
        cursor.execute("select name from items where id = 7")
        (name,) = cursor.fetchone()
    return HttpResponse(Signer().sign(name), content_type="text/plain")


urlpatterns = [path("", index)]


def make_rows():
    with connection.cursor() as cursor:
        cursor.execute("create table items (id integer primary key, name text)")
        cursor.executemany("insert into items values (%s, %s)", [(number, f"item {number}") for number in range(10)])


if __name__ == "__main__":
    make_rows()
else:
    application = get_wsgi_application()

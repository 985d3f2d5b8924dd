"""Words that say nothing in a name, though they may tell groups apart.

``NOTHING`` is never in a name: months, days, numbers, units, titles of persons, pieces of
addresses. ``EMPTY`` is put back: nouns of every subject, and words of speech.
"""

from __future__ import annotations

NOTHING = {
    "en": """
        january february march april may june july august september october november december jan
        feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday
        saturday sunday mon tue wed thu fri sat sun
        zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
        hundred hundreds thousand thousands million millions billion billions trillion first second
        third fourth fifth sixth seventh eighth ninth tenth half dozen twice
        mr mrs ms miss dr sir lord lady madam prof rev messrs esq jr sr hon
        km kg cm mm lb lbs oz ft pc pct percent bn mph kb mb gb
        www com http https org net edu gov html htm php url
        true false none null nan args kwargs
        st nd rd th vol pp fig eq ref et al ie eg etc inc ltd plc corp co llc
        """,
    "de": """
        januar februar märz april mai juni juli august september oktober november dezember montag
        dienstag mittwoch donnerstag freitag samstag sonnabend sonntag zwei drei vier fünf sechs
        sieben acht neun zehn elf zwölf hundert tausend million millionen milliarde milliarden
        prozent herr herrn frau dr prof euro mio mrd uhr www com http https org net html at
        """,
    "fr": """
        janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi
        mardi mercredi jeudi vendredi samedi dimanche deux trois quatre cinq six sept huit neuf dix
        cent mille million millions milliard milliards monsieur madame mme mlle www com http https
        """,
    "es": """
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        lunes martes miércoles jueves viernes sábado domingo dos tres cuatro cinco seis siete ocho
        nueve diez cien ciento mil millón millones señor señora sr sra don doña www com http https
        """,
    "it": """
        gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre
        dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica due tre quattro cinque sei
        sette otto nove dieci cento mille milione milioni miliardi signor signora www com http https
        """,
    "pt": """
        janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
        segunda terça quarta quinta sexta sábado domingo dois duas três quatro cinco seis sete oito
        nove dez cem mil milhão milhões senhor senhora sr sra www com http https
        """,
    "nl": """
        januari februari maart april mei juni juli augustus september oktober november december
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag twee drie vier vijf zes zeven
        acht negen tien honderd duizend miljoen miljard procent meneer mevrouw www com http https
        """,
}

EMPTY = {
    "en": """
        year years month months week weeks day days hour hours minute minutes today yesterday
        tomorrow time times date dates period past future end start beginning moment
        people man men woman women person persons child children guy
        thing things way ways lot lots kind kinds sort sorts type types part parts number numbers
        amount case cases example examples point points place places area areas side name names
        word words set sets list lists group groups line lines item items fact facts reason reasons
        result results question questions answer answers problem problems issue issues idea ideas
        something somebody level levels rest bit piece form forms order use value values
        world country countries nation city town home house street
        new old good better best great big bigger biggest small large larger largest high higher
        highest low lower lowest long short early late little young real right left full open major
        main key important different similar possible able available certain clear sure true wrong
        hard easy simple particular general special common recent current present previous following
        additional total whole overall own strong significant substantial
        said say says told tell asked ask added according called think thought believe believed know
        known want wanted need needed look looked looking feel felt help helped hope hoped try tried
        come came coming work working worked show showed shown find found put set run made seen
        left took taken given expected expect announced announce reported report
        statement figure figures top number
        """,
    "de": """
        jahr jahre jahren monat monate woche wochen tag tage tagen stunde stunden heute gestern zeit
        ende anfang leute menschen mann männer frauen kind kinder teil teile fall fälle beispiel
        punkt punkte platz seite name wort worte frage fragen grund weg art zahl zahlen ding dinge
        welt land stadt haus
        """,
    "fr": """
        an ans année années mois semaine jour jours heure heures temps fin gens homme hommes femme
        femmes personne personnes chose choses façon manière partie point place nombre cas exemple
        monde pays ville
        """,
    "es": """
        año años mes meses semana día días hora horas hoy ayer tiempo fin gente hombre hombres mujer
        mujeres persona personas cosa cosas manera forma parte punto lugar número caso ejemplo mundo
        país países ciudad vez
        """,
    "it": """
        anno anni mese mesi settimana giorno giorni ora ore oggi ieri tempo fine gente uomo uomini
        donna donne persona persone cosa cose modo parte punto luogo numero caso esempio mondo paese
        paesi città volta
        """,
    "pt": """
        ano anos mês meses semana dia dias hora horas hoje ontem tempo fim gente homem homens mulher
        mulheres pessoa pessoas coisa coisas maneira forma parte ponto lugar número caso exemplo
        mundo país países cidade vez
        """,
    "nl": """
        jaar jaren maand maanden week weken dag dagen uur vandaag gisteren tijd einde mensen man
        mannen vrouw vrouwen persoon ding dingen manier deel punt plaats aantal geval voorbeeld
        wereld land stad keer
        """,
}

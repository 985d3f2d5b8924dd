"""Words that say nothing, by language: in texts (``WORDS``), and in names of groups.

Every text has those of ``WORDS``. They are written as the vectoriser sees words: lower case, cut at
apostrophes ("don't" gives "don"), at least two letters. Lemmas that only stop words have ("be" of
"was") are in the lists too.

Three lists are of names alone; their words may tell groups apart. ``NOTHING`` is never in a name by
itself: months, days, numbers, units, pieces of addresses, English articles in other languages; nor
are ``TITLES`` of persons, which are in no phrase either. ``EMPTY`` is put back: nouns of every
subject, and words of speech.
"""

from __future__ import annotations

from functools import cache

WORDS = {
    "en": """
        about above according across after afterwards again against ago ain all almost along already
        also although always am amid among amongst an and another any anybody anyhow anyone anything
        anyway anywhere are aren around as aside at away back be became because become becomes
        becoming been before beforehand behind being below beside besides between beyond both but by
        came can cannot could couldn despite did didn do does doesn doing don done down due during
        each eg either else elsewhere enough etc even ever every everybody everyone everything
        everywhere except few fewer for former formerly from further furthermore gave get gets
        getting give given gives giving go goes going gone got gotten had hadn has hasn have haven
        having he hence her here hereafter hereby herein hers herself him himself his hither how
        howbeit however ie if in indeed inside instead into is isn it its itself just keep keeps
        kept largely lately later latter latterly least less lest let lets like likely likewise ll
        made mainly make makes making many may maybe me meanwhile might mightn more moreover most
        mostly much must mustn my myself namely near nearly neither never nevertheless next no
        nobody none nonetheless nor not nothing now nowhere of off often on once one ones only onto
        or other others otherwise ought oughtn our ours ourselves out outside over own per perhaps
        put puts quite rather re really regarding said same saw say saying says see seem seemed
        seeming seems seen several shall shan she should shouldn since so some somebody somehow
        someone something sometime sometimes somewhat somewhere soon still such take taken takes
        taking than that the their theirs them themselves then thence there thereafter thereby
        therefore therein thereof thereto thereupon these they this those though through throughout
        thru thus till to together too took toward towards under underneath unless unlike until unto
        up upon us use used uses using usually various ve versus very via vs want was wasn way we
        went were weren what whatever when whence whenever where whereafter whereas whereby wherein
        whereupon wherever whether which whichever while whilst whither who whoever whole whom
        whomever whose why will with within without would wouldn yes yet you your yours yourself
        yourselves
    """,
    "fr": """
        afin ah ai aie aient aies ailleurs ainsi ait alors apres après as assez au aucun aucune
        aucunement auprès auquel aura aurai auraient aurais aurait auras aurez auriez aurions aurons
        auront aussi aussitôt autant autre autrefois autrement autres autrui aux auxquelles auxquels
        avaient avais avait avant avec avez aviez avions avoir avons ayant ayante ayants ayez ayons
        beaucoup bien bientôt car ce ceci cela celle celles celui cependant certain certaine
        certaines certains ces cet cette ceux chacun chacune chaque chez ci combien comme comment
        concernant contre dans davantage de dedans dehors delà depuis des dessous dessus devant
        devoir devra devrait doit doivent donc dont du due duquel durant dès déjà désormais dû elle
        elles en encore enfin ensuite entre envers environ es est et eu eue eues eurent eus eusse
        eussent eusses eussiez eussions eut eux excepté eûmes eût eûtes faire fais faisaient faisait
        faisant fait faite faites faits fasse font furent fus fusse fussent fusses fussiez fussions
        fut fûmes fût fûtes guère hormis hors hélas ici il ils jamais je jusqu jusque la laquelle le
        lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là ma maintenant mais mal
        malgré me mes mien mienne miennes miens moi moins mon même mêmes naguère ne ni non nos
        notamment notre nous nul nulle néanmoins nôtre nôtres on ont or ou oui outre où par parce
        parfois parmi partout pas pendant peu peut peuvent peux plupart plus plusieurs plutôt pour
        pourquoi pourra pourrait pourtant pouvait pouvoir presque près pu puis puisqu puisque qu
        quand quant que quel quelconque quelle quelles quelqu quelque quelques quels qui quiconque
        quoi quoiqu quoique rien sa sans sauf se selon sera serai seraient serais serait seras serez
        seriez serions serons seront ses seul seule seulement si sien sienne siennes siens sinon
        sitôt soi soient sois soit sommes son sont sous souvent soyez soyons suis suivant sur
        surtout ta tandis tant tantôt te tel telle tellement telles tels tes tien tienne tiennes
        tiens toi ton toujours tous tout toute toutefois toutes trop très tu un une uns vers via
        voici voilà vos votre vous vu vôtre vôtres ça étaient étais était étant étante étants étiez
        étions été étée étées étés êtes être
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes
        ans auch auf aus außer außerdem bei beide beiden beim bereits bevor bin bis bist bzw da
        dabei dadurch dafür dagegen daher dahin damals damit danach daneben dann daran darauf daraus
        darf darin darum darunter darüber das dass davon davor dazu daß dein deine deinem deinen
        deiner dem den denen denn dennoch der deren des deshalb dessen deswegen dich die dies diese
        diesem diesen dieser dieses dir doch dort du durch dürfen ebenfalls ebenso ein eine einem
        einen einer eines einfach einige einigen einiger einiges einmal er es etwa etwas euch euer
        eure eurem euren eurer falls fast für ganz gar gegen gegenüber genau gewesen gibt habe haben
        hat hatte hatten hattest her hier hin hinter hätte hätten ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer ihres im immer in indem ins insbesondere ist ja je jede jedem jeden jeder jedes
        jedoch jemand jene jenem jenen jener jenes jetzt kann kannst kein keine keinem keinen keiner
        können könnte könnten lassen mal man manche manchem manchen mancher mehr mein meine meinem
        meinen meiner mich mir mit muss musste mussten müssen nach nachdem nachher neben nein nicht
        nichts nie niemand noch nun nur ob oben oder oft ohne schon sehr sein seine seinem seinen
        seiner seines seit seitdem selbst sich sie sind so sobald solche solchem solchen solcher
        soll sollen sollte sollten somit sondern sonst soweit sowie sowohl statt trotz trotzdem um
        und uns unser unsere unserem unseren unserer unter usw viel viele vielen vieler vom von vor
        vorher wann war waren warst warum was wegen weil weiter weitere weiteren weiterer welche
        welchem welchen welcher welches wenig wenige wenn wer werde werden werdet wessen wie wieder
        will wir wird wirst wo wobei wodurch wohin wollen wollte worden worin wurde wurden während
        würde würden zu zudem zum zur zwar zwischen über
    """,
    "es": """
        ahora al algo alguien alguna algunas alguno algunos algún allá allí ambos ante antes aquel
        aquella aquellas aquello aquellos aquí así aunque aún bajo bastante bien cada casi como con
        contra cual cuales cualquier cuando cuanto cuya cuyas cuyo cuyos cuál cuándo cómo da dan dar
        de debe deben deber del demás dentro desde después donde dos durante dónde el ella ellas
        ello ellos embargo en entonces entre era eran eras es esa esas ese eso esos esta estaba
        estaban estado estar estas este esto estos estoy está están etc fue fuera fueron fui ha
        haber había habían hace hacen hacer hacia han has hasta hay he hecho hemos hizo hubo incluso
        ir jamás junto la las le les lo los luego me mediante menos mi mientras mis misma mismas
        mismo mismos mucha muchas mucho muchos muy más mía mías mío míos nada nadie ni ninguna
        ninguno ningún no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca os otra
        otras otro otros para pero poca pocas poco pocos poder podrá podría podía por porque puede
        pueden pues que quien quienes quién qué sea sean según ser será serán sería si sido siempre
        siendo sin sino sobre sois solo somos son soy su sus suya suyas suyo suyos sí sólo tal tales
        también tampoco tan tanta tantas tanto tantos te tendrá tener tenía ti tiene tienen toda
        todas todavía todo todos tras tu tus tú un una unas uno unos usted ustedes va van varias
        varios ver vez vosotras vosotros vuestra vuestras vuestro vuestros ya yo él
    """,
    "it": """
        abbia abbiamo abbiano ad adesso agli ai al alcun alcuna alcune alcuni alcuno all alla alle
        allo allora altra altre altri altro anche ancora anzi appena assai attraverso avendo avere
        avete aveva avevano avrebbe avrà avuta avuto benché bene che chi chiunque ci ciascun
        ciascuna ciascuno cioè ciò coi col come comunque con contro così cui da dagli dai dal dall
        dalla dalle dallo davanti degli dei del dell della delle dello dentro deve devono di dietro
        dopo dove dovere dunque durante ebbe ecco ed egli era erano essa esse essendo essere essi fa
        fanno fare fatto finché fino fra fu fuori furono già gli ha hai hanno ho il in infatti
        inoltre insieme intanto invece io la le lei li lo loro lui lungo ma mai me meno mentre mi
        mia mie miei mio molta molte molti molto ne negli nei nel nell nella nelle nello nemmeno
        neppure nessun nessuna nessuno niente noi non nostra nostre nostri nostro nulla né od ogni
        ognuno oltre oppure ora ossia per perché perciò però più poca poche pochi poco poi poiché
        possono potere potrebbe potrà presso prima proprio pur pure può qua qual qualche qualcosa
        qualcuno quale quali quando quanta quante quanti quanto quasi quel quell quella quelle
        quelli quello quest questa queste questi questo qui quindi saranno sarebbe sarà se sebbene
        sei sembra sempre senza si sia siamo siano siete sono sopra sotto sta stata state stati
        stato stessa stesse stessi stesso su sua sue sugli sui sul sull sulla sulle sullo suo suoi
        sé tale tali tanta tante tanti tanto te ti tra tranne troppo tu tua tue tuo tuoi tutta
        tuttavia tutte tutti tutto un una uno va verso vi via voi volta vostra vostre vostri vostro
    """,
    "pt": """
        acerca agora ainda algo algum alguma algumas alguns alguém ali além ambos ante antes ao aos
        apenas apesar após aquela aquelas aquele aqueles aqui aquilo as assim através até bastante
        bem cada caso com como conforme contra contudo cuja cujas cujo cujos da daquela daquele das
        de dela delas dele deles dentro depois desde dessa dessas desse desses desta destas deste
        destes deve devem dever disse disso disto do dos durante ela elas ele eles em embora
        enquanto entre então era eram essa essas esse esses esta estar estas estava estavam este
        estes estou está estão etc eu faz fazem fazer feito foi for fora foram fosse havia há isso
        isto jamais já la lhe lhes lo logo lá mais mas me meio menos mesma mesmas mesmo mesmos meu
        meus minha minhas muita muitas muito muitos na nada nas nela nele nem nenhum nenhuma nessa
        nesse nesta neste ninguém no nos nossa nossas nosso nossos num numa nunca não nós onde os ou
        outra outras outro outros para pela pelas pelo pelos perante pode podem poder poderá pois
        por porque portanto porém pouca poucas pouco poucos primeiro própria próprio quais qual
        qualquer quando quanto quase que quem quer se seja sejam sem sempre sendo senão ser seria
        será serão seu seus si sido sob sobre sua suas só tal também tampouco tanta tantas tanto
        tantos te tem tendo tenha ter terá teve ti tido tinha toda todas todavia todo todos tu tua
        tuas tudo tão têm um uma umas uns vai você vocês vos vão
    """,
    "nl": """
        aan aangezien achter af al alle alleen alles als alsnog altijd ander andere anderen anders
        behalve ben bent beter bij bijna bijvoorbeeld binnen boven bovendien buiten daar daarbij
        daardoor daarin daarmee daarna daarom daarop daarvan daarvoor dan dat de den der deze die
        dit doch doen doet door dus echter een eens eerst elk elke en enige enkele er erg ergens
        ervan etc even gaan gaat gedurende geen geweest geworden had hadden heb hebben hebt heeft
        hem hen het hier hierdoor hij hoe hoewel hun ieder iedere iedereen iemand iets ik in indien
        is ja je jij jou jouw jullie kan kon konden kun kunnen kunt maar mag meer meest men met mij
        mijn minder misschien moest moesten moet moeten mogen na naar naast nadat niemand niet niets
        nog nogal nooit nu of om omdat omtrent onder ongeveer ons onze ook op opnieuw over overal
        per reeds sinds slechts sommige soms steeds straks te tegen tenzij terug terwijl tijdens
        toch toen tot totdat tussen uit uw vaak van vanaf vanuit veel verder via volgens voor vooral
        voordat vroeger waar waarbij waardoor waarin waarmee waarom waarop waarvan waarvoor wanneer
        want waren was wat we weer wel welk welke werd werden wie wij wil wilde worden wordt zal ze
        zeer zelf zich zichzelf zij zijn zo zoals zodat zonder zou zouden zowel zullen één
    """,
}

NOTHING = {
    "en": """
        january february march april may june july august september october november december jan
        feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday
        saturday sunday mon tue wed thu fri sat sun
        zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
        hundred hundreds thousand thousands million millions billion billions trillion first second
        third fourth fifth sixth seventh eighth ninth tenth half dozen twice
        km kg cm mm lb lbs oz ft pc pct percent bn mph kb mb gb
        www com http https org net edu gov html htm php url
        true false none null nan args kwargs
        st nd rd th vol pp fig eq ref et al ie eg etc inc ltd plc corp co llc
        """,
    "de": """
        januar februar märz april mai juni juli august september oktober november dezember montag
        dienstag mittwoch donnerstag freitag samstag sonnabend sonntag zwei drei vier fünf sechs
        sieben acht neun zehn elf zwölf hundert tausend million millionen milliarde milliarden
        prozent euro mio mrd uhr www com http https the of and org net html at
        """,
    "fr": """
        janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi
        mardi mercredi jeudi vendredi samedi dimanche deux trois quatre cinq six sept huit neuf dix
        cent mille million millions milliard milliards www com http https the of and
        """,
    "es": """
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        lunes martes miércoles jueves viernes sábado domingo dos tres cuatro cinco seis siete ocho
        nueve diez cien ciento mil millón millones www com http https the of and
        """,
    "it": """
        gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre
        dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica due tre quattro cinque sei
        sette otto nove dieci cento mille milione milioni miliardi www com http https the of and
        """,
    "pt": """
        janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
        segunda terça quarta quinta sexta sábado domingo dois duas três quatro cinco seis sete oito
        nove dez cem mil milhão milhões www com http https the of and
        """,
    "nl": """
        januari februari maart april mei juni juli augustus september oktober november december
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag twee drie vier vijf zes zeven
        acht negen tien honderd duizend miljoen miljard procent www com http https the of and
        """,
}

TITLES = {
    "en": "mr mrs ms miss dr sir lord lady madam prof rev messrs esq jr sr hon",
    "de": "herr herrn frau dr prof",
    "fr": "monsieur madame mme mlle",
    "es": "señor señora sr sra don doña",
    "it": "signor signora",
    "pt": "senhor senhora sr sra",
    "nl": "meneer mevrouw",
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


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, or none where there is no list."""
    return frozenset(WORDS.get(language, "").split())
